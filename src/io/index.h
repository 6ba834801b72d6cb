// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the records of a file lie, found once and kept beside it.
//
// Note [Indexes]
// An index has 16 bytes for each record and is mapped into memory, so it costs none until it is
// used. It is kept as FILE.stoker-index, or where that folder cannot be written in the user's cache
// folder ($XDG_CACHE_HOME/stoker or ~/.cache/stoker), or else in memory. $STOKER_INDEX_DIR names a
// folder that takes the place of both. It is written under
// another name first and then renamed, so that nobody ever sees half of it. One that was made for
// another size, another time of change or another way of looking for records is made again, as is
// one whose checksum is wrong. Whoever uses a place checks it against the file: the index may be
// anyone's.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stoker::io {

// Of a record.
struct IndexEntry {
  int64_t offset, size;
  bool operator==(const IndexEntry&) const = default;
};

// Immutable; thread-safe.
class RecordIndex {
 public:
  RecordIndex(std::vector<IndexEntry> entries);
  ~RecordIndex();
  RecordIndex(const RecordIndex&) = delete;
  RecordIndex& operator=(const RecordIndex&) = delete;

  // The index of a file. `kind`: how records are looked for, as "tfrecord 1". `find`: looks for
  // them where there is no index that fits. `files`: under which of these names to keep it, the
  // first that can be; none: as the note says. Throws what `find` throws, and SampleError for a
  // file that is not there.
  static std::shared_ptr<const RecordIndex> of(const std::string& path, const std::string& kind,
                                               const std::function<std::vector<IndexEntry>()>& find,
                                               const std::vector<std::string>& files = {});

  std::span<const IndexEntry> entries() const { return entries_; }
  bool is_mapped() const { return map_ != nullptr; }

 private:
  RecordIndex(void* map, size_t length, std::span<const IndexEntry> entries)
      : map_(map), length_(length), entries_(entries) {}
  static std::shared_ptr<const RecordIndex> map(const std::string& file,
                                                std::span<const uint8_t> expected);

  std::vector<IndexEntry> own_;
  void* map_ = nullptr;
  size_t length_ = 0;
  std::span<const IndexEntry> entries_;
};

}  // namespace stoker::io
