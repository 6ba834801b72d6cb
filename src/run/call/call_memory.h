// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What all calls of a process have in common: their memory, and what is known of JPEG files.
#pragma once
#include <sys/types.h>

#include "base/mutex.h"
#include "io/bytes.h"
#include "memory/pool.h"
#include "run/executor_options.h"

namespace stoker {

// Note [Memory of calls]
// The limit has the shares of Note [Shares of the budget] (run/memory_shares.h). Results, also
// those that the user keeps, take their share from one pool. A call at work takes scratch memory up
// to its part of that share, of which there is one for each CPU; so more threads than CPUs may
// exceed it. What needs more is made under `alone`, one at a time, with up to all of the share,
// while other calls keep what they have. A call never waits for the memory of another. Between
// calls, workers keep their scratch memory as long as all that is kept stays below kMostKept;
// beyond that they give it back. A file that is read may take the share of reading ahead; a few
// buffers for files are kept, as new memory costs more than many a read.
//
// Thread-safe. Behind a fork, the child needs another one, as threads of the parent may have held
// its locks.
class CallMemory : public std::enable_shared_from_this<CallMemory> {
 public:
  // `limit`: in bytes; 0 is half of what the process may take.
  explicit CallMemory(int64_t limit = 0);

  HostPool& pool() { return pool_; }
  const ExecutorOptions& options() const { return options_; }
  Mutex& alone() { return alone_; }
  // Whether so many bytes may be kept between calls; then they count until let_go().
  bool try_keep(size_t bytes);
  void let_go(size_t bytes) { kept_ -= bytes; }
  size_t kept() const { return kept_; }
  EntropyIndexes::Statistics jpeg_indexes() const { return indexes_.statistics(); }

  // Reads a whole file. Throws SampleError. Requires: a shared_ptr owns this.
  std::shared_ptr<const io::ByteBuffer> read(const std::string& path);

 private:
  static constexpr size_t kMostKept = size_t{256} << 20;
  static constexpr size_t kSpareBuffers = 8, kLargestSpare = size_t{4} << 20;  // bytes

  io::ByteBuffer take_spare(size_t bytes) STOKER_EXCLUDES(mutex_);
  void keep_spare(io::ByteBuffer buffer) STOKER_EXCLUDES(mutex_);

  const pid_t owner_;
  ExecutorOptions options_;
  HostPool pool_;
  EntropyIndexes indexes_;
  Mutex alone_;
  std::atomic<size_t> kept_{0};
  Mutex mutex_;  // nothing is read or freed under it
  std::vector<io::ByteBuffer> spare_ STOKER_GUARDED_BY(mutex_);  // those kept longest first
};

}  // namespace stoker
