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
  int64_t size() const { return size_; }  // when it was opened

  // Fills `into` with `length` bytes from `offset` on; fewer are an error that says how many there
  // are. A length of -1 is all up to the end: also what was appended since it was opened, while a
  // file that became shorter is an error. Throws BudgetError if there is no memory.
  void read(ByteBuffer& into, int64_t offset = 0, int64_t length = -1) const;

 private:
  size_t read_some(std::byte* into, int64_t offset, size_t count) const;
  void read_exactly(ByteBuffer& into, int64_t offset, size_t length) const;
  void read_to_end(ByteBuffer& into, int64_t offset) const;

  std::string path_;
  int fd_;
  int64_t size_;
};

// Where the bytes of something are: a whole file or a part of one. `file`, where given, is open
// already and `path` is unused.
struct Extent {
  std::string path;
  int64_t offset = 0, length = -1;
  std::shared_ptr<const File> file;
};

struct FolderEntry {
  std::string name;
  bool is_folder;  // also through a symbolic link; a link to nothing is not one
};
// Calls `found` for everything in a folder but . and .., in no particular order.
void list_folder(const std::string& path, const std::function<void(FolderEntry)>& found);

// "a/b" of "a" and "b"; `name` itself when it starts at the root or there is no folder.
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace stoker::io
