// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The only place that opens files and folders. Every failure is a SampleError that names the path
// and the system's reason.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "io/bytes.h"

namespace stoker::io {

// Something with a size and ranged reads: a file, and whatever else bytes come from. Immutable;
// thread-safe.
class Object {
 public:
  virtual ~Object() = default;
  virtual const std::string& path() const = 0;  // its name in messages
  virtual int64_t size() const = 0;  // when it was opened

  // Puts `length` bytes from `offset` on behind those that are in `into`. Throws SampleError when
  // there are fewer, and says how many there are. A length of -1 means all bytes up to the end,
  // with those appended since it was opened; an object that became shorter is an error. Throws
  // BudgetError if there is no memory.
  virtual void append(ByteBuffer& into, int64_t offset, int64_t length) const = 0;
  // The same, in the place of what is in `into`.
  void read(ByteBuffer& into, int64_t offset = 0, int64_t length = -1) const {
    into.clear();
    append(into, offset, length);
  }
};

// A regular file, open for reading. Thread-safe.
class File final : public Object {
 public:
  explicit File(std::string path);
  ~File() override;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }
  void append(ByteBuffer& into, int64_t offset, int64_t length) const override;
  // Fills the caller's memory with `length` bytes from `offset` on. Throws SampleError when there
  // are fewer.
  void read_to(std::byte* into, int64_t offset, size_t length) const;

 private:
  size_t read_some(std::byte* into, int64_t offset, size_t count) const;
  void read_exactly(ByteBuffer& into, int64_t offset, size_t length) const;
  void read_to_end(ByteBuffer& into, int64_t offset) const;
  [[noreturn]] void refuse(size_t got, int64_t offset, size_t length) const;

  std::string path_;
  int fd_;
  int64_t size_;
};

struct FolderEntry {
  std::string name;
  bool is_folder;  // true for a symbolic link to a folder, false for one to nothing
};
// Which folder it is, whatever path leads to it.
struct FolderId {
  uint64_t device, number;
  bool operator==(const FolderId&) const = default;
};
// Calls `found` for every entry of a folder but . and .., in no particular order, or for `most` of
// them.
FolderId list_folder(const std::string& path, const std::function<void(FolderEntry)>& found,
                     int64_t most = INT64_MAX);

// The bytes of a file as text.
std::string text_of(const std::string& path);

// Puts a file with these bytes, one part behind the other, in the place of what has this name.
// Nobody sees half of it, even where several write it at once. Returns whether it could be written;
// if not, nothing has changed.
bool replace_file(const std::string& path, std::initializer_list<std::span<const uint8_t>> parts);

// "a/b" for "a" and "b". Only `name`, where it is absolute or there is no folder.
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace stoker::io
