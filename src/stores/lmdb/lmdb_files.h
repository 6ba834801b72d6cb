// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "stores/lmdb/lmdb.h"
#include "stores/records/record_files.h"

namespace stoker::stores {

// The values of several LMDB databases, one database behind the other. Immutable.
class LmdbFiles {
 public:
  // Throws SampleError for a database that cannot be read.
  explicit LmdbFiles(const std::vector<std::string>& paths);

  int64_t size() const { return files_.size(); }
  std::string name(int64_t i) const { return files_.name(i); }
  std::vector<int64_t> begins() const { return files_.begins(); }
  uint64_t fingerprint() const { return fingerprint_; }
  io::Extent extent(int64_t i) const { return files_.extent(i); }
  // The value in the bytes of extent(i). Throws SampleError.
  ByteSpan value(int64_t i, ByteSpan bytes) const {
    const RecordFiles::At at = files_.at(i);
    return lmdb_value(bytes, at.place, page_sizes_[at.file], files_.path(at.file));
  }
  // What `parse` makes of a value. A SampleError's offset becomes one in the file.
  template <class F>
  auto parsed(int64_t i, ByteSpan value, const F& parse) const {
    const RecordPlace place = files_.at(i).place;
    const auto size = static_cast<int64_t>(value.size());
    return counted_from(place.offset + place.size - size, [&] { return parse(value); });
  }

 private:
  RecordFiles files_;
  std::vector<int64_t> page_sizes_;
  uint64_t fingerprint_ = 0;
};

}  // namespace stoker::stores
