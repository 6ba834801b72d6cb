// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The only place that opens files and folders. Every failure is a SampleError that names the path
// and the system's reason.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "io/bytes.h"

namespace stoker::io {

// A regular file, open for reading. Thread-safe.
class File {
 public:
  explicit File(std::string path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }  // when the file was opened

  // Fills `into` with `length` bytes from `offset` on. Throws when there are fewer, and says how
  // many there are. A length of -1 means all bytes up to the end, with those appended since the
  // file was opened; a file that became shorter is an error. Throws BudgetError if there is no
  // memory.
  void read(ByteBuffer& into, int64_t offset = 0, int64_t length = -1) const;

 private:
  size_t read_some(std::byte* into, int64_t offset, size_t count) const;
  void read_exactly(ByteBuffer& into, int64_t offset, size_t length) const;
  void read_to_end(ByteBuffer& into, int64_t offset) const;

  std::string path_;
  int fd_;
  int64_t size_;
};

// Where bytes are stored: a whole file or a part of one. Where `file` is given, it is open already
// and `path` is unused.
struct Extent {
  std::string path;
  int64_t offset = 0, length = -1;
  std::shared_ptr<const File> file;
};

// An extent whose file is open. Copies share the file.
class OpenExtent {
 public:
  OpenExtent() = default;  // of no file
  explicit OpenExtent(Extent extent);
  bool is_open() const { return file_ != nullptr; }
  // The bytes that read() will give, unless the file changes.
  size_t size() const { return size_; }
  // Requires: is_open(). Throws what File::read() throws.
  void read(ByteBuffer& into) const { file_->read(into, offset_, length_); }

 private:
  std::shared_ptr<const File> file_;
  int64_t offset_ = 0, length_ = -1;
  size_t size_ = 0;
};

struct FolderEntry {
  std::string name;
  bool is_folder;  // true for a symbolic link to a folder, false for one to nothing
};
// Calls `found` for every entry of a folder but . and .., in no particular order.
void list_folder(const std::string& path, const std::function<void(FolderEntry)>& found);

// "a/b" for "a" and "b". Only `name`, where it is absolute or there is no folder.
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace stoker::io
