// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The records of several files, one file behind the other, as readers deliver them.
#pragma once
#include <functional>

#include "io/record_table.h"
#include "io/store.h"
#include "stores/ranges.h"

namespace stoker::stores {

// Immutable once all files were added.
class RecordFiles {
 public:
  struct At {
    size_t file;
    RecordPlace place;
  };

  void add(std::string path, std::shared_ptr<const io::RecordTable> table);

  int64_t size() const { return begins_.back(); }
  size_t files() const { return paths_.size(); }
  const std::string& path(size_t file) const { return paths_[file]; }
  std::span<const RecordPlace> places(size_t file) const { return tables_[file]->places(); }
  // Requires: 0 <= i < size().
  At at(int64_t i) const;
  // Throws SampleError for a place outside of its file.
  io::Extent extent(int64_t i) const;
  // "a.tfrecord at byte 7"
  std::string name(int64_t i) const;
  // The first record of each file.
  std::vector<int64_t> begins() const { return {begins_.begin(), begins_.end() - 1}; }
  // Of the files' names without folders, and of where their records lie.
  uint64_t fingerprint() const;

 private:
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<const io::RecordTable>> tables_;
  std::vector<int64_t> begins_ = {0};
  io::OpenFiles open_;
};

// The table of a file, made by `find` if none is kept: Note [Kept beside files] (io/kept_bytes.h).
std::shared_ptr<const io::RecordTable> record_table_of(
    const std::string& path, const std::string& kind,
    const std::function<std::vector<RecordPlace>(const Ranges&)>& find);

// Whether most of the first, the middle and the last place fit. None is as good as all.
template <class F>
bool most_fit(std::span<const RecordPlace> places, const F& fits) {
  if (places.empty()) return true;
  const size_t last = places.size() - 1;
  return fits(places[0]) + fits(places[last / 2]) + fits(places[last]) >= 2;
}

// Calls f while a reader is opened: a SampleError becomes a GraphError.
template <class F>
auto while_opening(const F& f) {
  try {
    return f();
  } catch (const SampleError& e) {
    throw GraphError(e.what());
  }
}

// Calls f, which parses bytes from `offset` of a file. A SampleError's offset becomes the file's.
template <class F>
auto counted_from(int64_t offset, const F& f) {
  try {
    return f();
  } catch (const SampleError& e) {
    throw SampleError(e.what(), offset + std::max<int64_t>(e.offset, 0));
  }
}

}  // namespace stoker::stores
