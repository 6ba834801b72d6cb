// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading ahead in a known order: the bytes of coming samples wait, up to a limit.
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

// A sample's turn is its number in the order in which samples will be wanted. The fetcher's own
// threads read samples in that order, as far as the limit allows. A sample that no thread has
// begun is read by take() itself. So take() waits at most for a read that is running, and never for
// a thread to start. Thread-safe.
//
// Note [Reading ahead]
// A sample counts with kEntryCost and its bytes from the moment its size is known until it is
// taken. So the sum never exceeds the limit (except for a file that grows while it is read). A
// thread parks a sample that does not fit, with its file open, and no thread begins a later one
// before it. When there is room a thread reads it, unless take() comes first; a sample larger than
// the limit is always left to take(). Threads that reach the limit sleep until a quarter of it is
// free: to wake one for every sample that is taken would cost more than many a read.
class Fetcher {
 public:
  // Tells where the sample of a turn is. It is called without locks from any thread, so it must be
  // thread-safe. take() throws what it throws.
  using Locate = std::function<Extent(int64_t turn)>;
  // Is told how many bytes take() will give, before it reads them. take() throws what it throws.
  using Admit = std::function<void(size_t bytes)>;
  // What a sample costs besides its bytes. Without this cost, empty or unreadable files would be
  // read ahead without end.
  static constexpr size_t kEntryCost = 4096;

  struct Stats {
    // Bytes counted as above: now, and the most so far.
    size_t held = 0, high_water = 0;
    size_t unused = 0;  // bytes of buffers that wait for reuse
    int64_t ahead = 0;  // samples that threads have read or failed to read
    int64_t on_the_spot = 0;  // samples that take() had to read
    int64_t waits = 0;  // calls of take() that had to wait for a read
  };

  // Without threads, every take() reads. The first turn is 0, and nothing is scheduled at first.
  Fetcher(int threads, size_t limit, Locate locate);
  // Waits for running reads and begins no others. Bytes that were taken stay valid.
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // Turns below `end` may be read ahead from now on; each must be taken some time. `end` never goes
  // back.
  void schedule(int64_t end);
  // The bytes of a sample, with kReadPadding zeros behind them. Turns may be taken in any order,
  // scheduled or not. Empty when the turn was taken before, even if that call threw. Throws what
  // reading threw (SampleError, BudgetError).
  std::optional<Bytes> take(int64_t turn, const Admit& admit = [](size_t) {});
  Stats stats() const;

 private:
  enum class State {
    kReading,  // a thread works on it
    kParked,  // open, waits for room
    kReady,
    kFailed,
    kTaken,  // taken before the threads came to it
  };
  struct Entry {
    State state = State::kReading;
    size_t cost = 0;
    OpenExtent extent;
    Bytes bytes;
    std::exception_ptr error;
  };
  // What a thread works on. Stats::held includes `cost` already.
  struct Job {
    int64_t turn;
    size_t cost = 0;
    OpenExtent extent;
  };

  Bytes read(const OpenExtent& extent) const;
  Bytes read(const OpenExtent& extent, const Admit& admit) const;

  void work();
  bool pick(Job& job) STOKER_REQUIRES(mutex_);
  bool has_work() const STOKER_REQUIRES(mutex_);
  void run(Job& job) STOKER_REQUIRES(mutex_);
  bool take_room(Job& job) STOKER_REQUIRES(mutex_);
  void finish(const Job& job, Bytes bytes, std::exception_ptr error) STOKER_REQUIRES(mutex_);
  void hold(size_t bytes) STOKER_REQUIRES(mutex_);
  void release(size_t bytes) STOKER_REQUIRES(mutex_);
  void erase(int64_t turn) STOKER_REQUIRES(mutex_);
  void mark_taken(int64_t turn) STOKER_REQUIRES(mutex_);
  void skip_taken() STOKER_REQUIRES(mutex_);
  void stop();

  const size_t limit_;
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
