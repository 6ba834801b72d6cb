// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading ahead over a known order: the bytes of coming samples wait in a window of bounded size.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "io/bytes.h"
#include "io/file.h"

namespace stoker::io {

// Samples have sequence numbers: the order in which they will be wanted. Threads of its own read
// them in that order as far as the window has room. Whoever takes one that nobody has begun reads
// it on the spot, so taking waits for a read under way at most and never for a thread to start.
// Thread-safe.
//
// Note [The window]
// A sample counts with its bytes and kEntryCost from the moment its size is known until it is
// taken, so the sum never exceeds the window (but for a file that grows while it is read). A thread
// parks a sample that does not fit, its file open, and begins no other before it: once there is
// room it is read, or take() reads it, as it must one larger than the window. Threads that found
// the window full sleep until a quarter of it is free: waking one for every sample that is taken
// would cost more than many a read.
class Fetcher {
 public:
  // Where sample `turn` is; called without locks from any thread, so thread-safe. What it throws
  // take() throws.
  using Locate = std::function<Extent(int64_t turn)>;
  // What a sample costs besides its bytes; keeps empty or unreadable files from being read ahead
  // without end.
  static constexpr size_t kEntryCost = 4096;

  struct Stats {
    // Bytes in the window as counted above: now, and the most there ever were.
    size_t held = 0, high_water = 0;
    size_t unused = 0;  // bytes of buffers that wait to be used again
    int64_t ahead = 0;  // samples that threads have read or failed to read
    int64_t on_the_spot = 0;  // samples that take() had to read
    int64_t waits = 0;  // takes that met a read under way
  };

  // With no threads every take() reads. Starts at number 0 with nothing scheduled.
  Fetcher(int threads, size_t window_bytes, Locate locate);
  // Waits for the reads under way, begins no other. What was taken stays valid.
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // Numbers below `end` may be read ahead from now on; each must be taken some time.
  // Never goes back.
  void schedule(int64_t end);
  // The bytes of sample `turn`, with kReadPadding zeros behind them; scheduled or not, in any
  // order. Nothing when it was taken before. Throws what reading threw (SampleError, BudgetError).
  std::optional<Bytes> take(int64_t turn);
  Stats stats() const;

 private:
  // An open file and the part of it that is wanted.
  struct OpenExtent {
    std::shared_ptr<const File> file;
    int64_t offset = 0, length = -1;
    size_t size = 0;
  };
  enum class State {
    kReading,  // a thread has it
    kParked,  // open, waits for room
    kReady,
    kFailed,
    kGone,  // taken before the threads came to it
  };
  struct Entry {
    State state = State::kReading;
    size_t cost = 0;
    OpenExtent extent;
    Bytes bytes;
    std::exception_ptr error;
  };
  // What a thread is at. `cost` is in held_ already.
  struct Job {
    int64_t turn;
    size_t cost = 0;
    OpenExtent extent;
  };

  OpenExtent open(Extent extent) const;
  Bytes read(const OpenExtent& extent) const;

  void work();
  bool pick(Job& job) STOKER_REQUIRES(mutex_);
  bool work_waits() const STOKER_REQUIRES(mutex_);
  void run(Job& job) STOKER_REQUIRES(mutex_);
  bool take_room(Job& job) STOKER_REQUIRES(mutex_);
  void finish(const Job& job, Bytes bytes, std::exception_ptr error) STOKER_REQUIRES(mutex_);
  void hold(size_t bytes) STOKER_REQUIRES(mutex_);
  void release(size_t bytes) STOKER_REQUIRES(mutex_);
  void erase(int64_t turn) STOKER_REQUIRES(mutex_);
  void mark_gone(int64_t turn) STOKER_REQUIRES(mutex_);
  void pass_gone() STOKER_REQUIRES(mutex_);
  void stop();

  const size_t window_;
  const Locate locate_;
  const std::shared_ptr<BytePool> pool_;

  mutable Mutex mutex_;  // no file is opened, read or closed under it, and locate_ is not called
  ConditionVariable room_, done_;
  std::unordered_map<int64_t, Entry> entries_ STOKER_GUARDED_BY(mutex_);
  std::set<int64_t> parked_ STOKER_GUARDED_BY(mutex_);
  int64_t next_ STOKER_GUARDED_BY(mutex_) = 0;  // what threads begin next
  int64_t end_ STOKER_GUARDED_BY(mutex_) = 0;  // where they stop
  bool is_full_ STOKER_GUARDED_BY(mutex_) = false;  // threads sleep until a quarter is free
  Stats stats_ STOKER_GUARDED_BY(mutex_);
  bool stopping_ STOKER_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace stoker::io
