// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "base/view.h"
#include "io/fetch.h"
#include "memory/arena.h"

namespace stoker {

using Fetchers = std::vector<std::unique_ptr<io::Fetcher>>;  // by reader

// What the fetchers have read for one worker. Any thread may read the counters.
class FetchedBytes {
 public:
  explicit FetchedBytes(Fetchers& fetchers) : fetchers_(fetchers), taken_(fetchers.size()) {}
  // `turn`: the sample's turn at this reader; -1 for a replacement, which is read at once. Charges
  // the arena before it reads, and throws what that throws.
  std::span<const io::Part> take_sample(int reader, int64_t turn, int64_t index, Arena& arena);
  // Lets go of what was taken. Who makes no sample must hold nothing, because others may wait for
  // the block in which it lies.
  void drop() {
    for (io::Fetched& f : taken_) f = {};
  }
  // The memory of these bytes if they were read, else null.
  std::shared_ptr<Buffer> owner(const View& v) const;

  std::atomic<int64_t> wait_ns{0}, bytes_read{0};

 private:
  Fetchers& fetchers_;
  std::vector<io::Fetched> taken_;
};

}  // namespace stoker
