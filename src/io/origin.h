// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The door that all bytes come through: opens objects, lists folders and tells what is known of
// either, wherever they lie. Every failure is a SampleError that names the path and the reason.
//
// Note [Origins]
// A path may begin with a scheme, as in "s3://bucket/name", and each scheme has an Origin. Paths
// without a known one are those of local files (io/local_files.h). Another origin is one more class
// and one more entry in known_origins() (io/origin.cc); all readers and searches use it then.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes.h"

namespace stoker::io {

// Something with a size and ranged reads: a file, and whatever else bytes come from. Immutable.
class Object {
 public:
  virtual ~Object() = default;
  virtual const std::string& path() const = 0;  // its name in messages
  virtual int64_t size() const = 0;  // when it was opened

  // Puts `length` bytes from `offset` on behind those in `into`. Throws SampleError when there are
  // fewer, and says how many. A length of -1 means all bytes up to the end, with those appended
  // since it was opened; an object that became shorter is an error. Throws BudgetError if there is
  // no memory.
  virtual void append(ByteBuffer& into, int64_t offset, int64_t length) const = 0;
  // As append(), but replaces what is in `into`.
  void read(ByteBuffer& into, int64_t offset = 0, int64_t length = -1) const {
    into.clear();
    append(into, offset, length);
  }
  // Fills `into` with the bytes from `offset` on. Throws SampleError when there are fewer.
  virtual void read_to(std::span<std::byte> into, int64_t offset) const = 0;
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
// What is known of a path without opening it.
struct PathInfo {
  bool is_folder = false;
  int64_t size = 0;
  int64_t changed = 0;  // differs between versions: for local files the time in nanoseconds
};

// Where objects of one scheme lie. Thread-safe.
class Origin {
 public:
  virtual ~Origin() = default;
  virtual std::string_view scheme() const = 0;  // "s3://"; "" for local files
  virtual std::shared_ptr<const Object> open(const std::string& path) const = 0;
  virtual FolderId list(const std::string& path, const std::function<void(FolderEntry)>& found,
                        int64_t most) const = 0;
  virtual PathInfo look_up(const std::string& path) const = 0;
};

const Origin& origin_of(std::string_view path);

std::shared_ptr<const Object> open(const std::string& path);
// Calls `found` for every entry of a folder but . and .., in no particular order, for at most
// `most` of them.
FolderId list_folder(const std::string& path, const std::function<void(FolderEntry)>& found,
                     int64_t most = INT64_MAX);
PathInfo look_up(const std::string& path);
// False also for what cannot be looked up: opening it tells why.
bool is_folder(const std::string& path);
// The bytes of an object as text.
std::string text_of(const std::string& path);

// "a/b" for "a" and "b". Only `name`, where it is absolute or has a scheme, or there is no folder.
std::string join_path(const std::string& folder, const std::string& name);

// Adds an origin, before all others, while this lives. For tests only. Requires: nothing is opened
// or listed while it is made or destroyed.
class WithOrigin {
 public:
  explicit WithOrigin(const Origin& origin);
  ~WithOrigin();
  WithOrigin(const WithOrigin&) = delete;
  WithOrigin& operator=(const WithOrigin&) = delete;
};

}  // namespace stoker::io
