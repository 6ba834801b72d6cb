// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The entropy indexes of many files: Note [Entropy index] of entropy_index.h. Thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "codec/plain_jpeg/entropy_index.h"

namespace stoker {

// Keeps them in memory, up to a number of bytes. Whenever one finds no room, all are thinned, to
// places for every 16 MCUs and then for each row: places for all files before more places for some.
// What is kept is never dropped for another: epochs go over all files alike, so the newest is no
// more wanted than the oldest.
class EntropyIndexes {
 public:
  // What pipelines begin with.
  static constexpr int kEvery = 8;

  struct Statistics {
    int64_t hits = 0, misses = 0;  // pictures that were decoded with an index and without
    int64_t wrong = 0;  // indexes that a decoder found to be wrong
    int64_t files = 0, bytes = 0, budget = 0;  // what is kept
    int every = 0;  // as for EntropyIndex, of what will be kept
  };

  // `every`: as for EntropyIndex, for files of which nothing is known yet.
  explicit EntropyIndexes(size_t budget, int every = 0) : budget_(budget), every_(every) {}

  // A copy of what is known of a file, perhaps nothing yet. None where nothing is known and nothing
  // more can be kept. Requires: EntropyIndex::can_hold(key).
  std::optional<EntropyIndex> find(const FileKey& key, const PlainFrame& frame)
      STOKER_EXCLUDES(mutex_);
  // Keeps an index in the place of what is known of its file, if there is room for it, perhaps
  // thinned.
  void keep(EntropyIndex index) STOKER_EXCLUDES(mutex_);
  // Thins all that are kept and will be. Returns false if they cannot be thinned any more.
  bool thin() STOKER_EXCLUDES(mutex_);
  // An index turned out to be wrong.
  void drop(const FileKey& key) STOKER_EXCLUDES(mutex_);
  Statistics statistics() const STOKER_EXCLUDES(mutex_);

  // All of them, to save: the bytes of a .sti file.
  std::vector<uint8_t> saved() const STOKER_EXCLUDES(mutex_);
  // Keeps those that saved() gave, as far as there is room. Throws SampleError if the bytes are
  // anything else; then it keeps none of them.
  void add_saved(std::span<const uint8_t> bytes) STOKER_EXCLUDES(mutex_);

 private:
  using Kept = std::shared_ptr<const EntropyIndex>;
  static size_t cost(const EntropyIndex& index);
  void keep_one(EntropyIndex index) STOKER_REQUIRES(mutex_);
  bool thin_all() STOKER_REQUIRES(mutex_);

  const size_t budget_;
  mutable Mutex mutex_;
  int every_ STOKER_GUARDED_BY(mutex_);
  int finest_ STOKER_GUARDED_BY(mutex_) = 1;  // all are thinned to this
  std::map<FileKey, Kept> kept_ STOKER_GUARDED_BY(mutex_);
  size_t bytes_ STOKER_GUARDED_BY(mutex_) = 0;
  bool is_full_ STOKER_GUARDED_BY(mutex_) = false;
  Statistics counted_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
