// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading ahead in a known order: the bytes of coming samples wait, up to a limit.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "io/store.h"

namespace stoker::io {

// A sample's turn is its number in the order in which samples will be wanted. The fetcher's threads
// read samples in that order, as far as the limit allows, and take() reads a sample that no thread
// has begun. So it waits at most for a read that is running. Thread-safe.
//
// Note [Reading ahead]
// A sample counts with kEntryCost and its bytes from the moment its size is known until it is
// taken, so the sum never exceeds the limit (except for a file that grows while it is read). A
// thread parks a sample that does not fit, with its file open, and no thread begins a later one
// before it. When there is room a thread reads it, unless take() comes first; a sample larger than
// the limit is always left to take(). Threads that reach the limit sleep until a quarter of it is
// free, as waking one for each sample would often cost more than the read.
//
// Note [Blocks]
// A block counts with its size from before it is loaded until it is dropped, also while its samples
// are at work. It stays for samples whose turn comes later, and is dropped when another block needs
// the room and no sample that was read ahead wants it. take() always finds room: it drops what was
// only read ahead, or else waits until others are done with their blocks and running reads have
// ended. Two threads never wait for each other, as long as each takes from several fetchers in the
// same order. For samples without bytes of their own, kEntryCost may be counted beyond the limit.
// So a block that fits the limit costs its samples nothing; a larger one is never kept, and each of
// its samples loads it and is told its size by Admit.
class Fetcher {
 public:
  // Tells which sample has a turn. It must be thread-safe, and is called without locks. take()
  // throws what it throws.
  using IndexOf = std::function<int64_t(int64_t turn)>;
  // Is told, before a sample is read, how many bytes it takes besides what counts here. take()
  // throws what it throws.
  using Admit = std::function<void(size_t bytes)>;
  // What a sample costs besides its bytes, so that empty or unreadable files are not read ahead
  // without end.
  static constexpr size_t kEntryCost = 4096;

  struct Stats {
    // Bytes counted as above: now, and the most so far.
    size_t held = 0, high_water = 0;
    int64_t ahead = 0;  // samples that threads have read or failed to read
    int64_t on_the_spot = 0;  // samples that take() had to read
    int64_t waits = 0;  // calls of take() that had to wait for a read
    int64_t blocks = 0;  // blocks that were loaded
  };

  // Without threads, every take() reads. The first turn is 0, and none is scheduled. Bytes lie
  // in memory of the pool, as Use::kRead. Requires: `store` and `pool` outlive this.
  Fetcher(int threads, size_t limit, const ByteStore& store, HostPool& pool, IndexOf index_of);
  // Waits for running reads. Bytes that were taken stay valid. Requires: no sample of a block is
  // left.
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // Turns below `end`, which never goes back, may be read ahead. Each must be taken some time.
  void schedule(int64_t end);
  // What was read of a sample. Turns may be taken in any order, scheduled or not. Empty when the
  // turn was taken before, even if that call threw. Throws SampleError and BudgetError.
  std::optional<Fetched> take(int64_t turn, const Admit& admit = [](size_t) {});
  // Reads a sample that has no turn, or whose turn was taken before.
  Fetched take_again(int64_t index, const Admit& admit = [](size_t) {});
  Stats stats() const;

 private:
  enum class State {
    kReading,  // a thread works on it
    kParked,  // open, waits for room
    kReady,
    kFailed,
    kTaken,  // taken before the threads came to it
    kDropped,  // read ahead, but a block needed the room
  };
  // A sample whose place is known, with its files open.
  struct Opened {
    bool is_open = false;
    int64_t index = -1, turn = -1;
    Place place;
    OpenExtents extents;
    size_t size = 0;  // what the place takes: of its block, if it is in one

    bool is_in_block() const { return place.kind == Place::Kind::kBlock; }
  };
  struct Entry {
    State state = State::kReading;
    size_t cost = 0;
    Opened opened;
    Fetched fetched;
    std::exception_ptr error;
  };
  // What a thread works on. Stats::held includes `cost` already.
  struct Job {
    int64_t turn;
    size_t cost = 0;
    Opened opened;
  };
  struct Cached {
    std::shared_ptr<const Block> block;  // null: it is being loaded, or failed
    std::exception_ptr error;
    size_t cost = 0;
    int64_t wanted = 0;  // samples that were read ahead and not taken
    int64_t users = 0;  // samples at work
    int64_t last_turn = -1;  // the last one that wanted it so far

    bool is_loading() const { return !block && !error; }
    bool is_idle() const { return users == 0 && !is_loading(); }
  };

  Opened open(int64_t index, int64_t turn) const;
  Fetched read(const Opened& opened) const;
  Fetched read(const Opened& opened, const Admit& admit);

  void work();
  bool pick(Job& job) STOKER_REQUIRES(mutex_);
  bool has_work() const STOKER_REQUIRES(mutex_);
  bool has_room(const Opened& opened) const STOKER_REQUIRES(mutex_);
  void run(Job& job) STOKER_REQUIRES(mutex_);
  bool take_room(Job& job) STOKER_REQUIRES(mutex_);
  void park(Job& job) STOKER_REQUIRES(mutex_);
  void finish(const Job& job, Fetched fetched, std::exception_ptr error) STOKER_REQUIRES(mutex_);
  void hold(size_t bytes) STOKER_REQUIRES(mutex_);
  void release(size_t bytes) STOKER_REQUIRES(mutex_);
  void erase(int64_t turn) STOKER_REQUIRES(mutex_);
  void mark_taken(int64_t turn) STOKER_REQUIRES(mutex_);
  void skip_taken() STOKER_REQUIRES(mutex_);
  void stop();

  // Blocks.
  bool want_block(Job& job) STOKER_REQUIRES(mutex_);
  void load(int64_t block, size_t bytes) STOKER_REQUIRES(mutex_);
  Fetched from_block(const Opened& opened, bool was_wanted, const Admit& admit)
      STOKER_EXCLUDES(mutex_);
  std::shared_ptr<const Block> use_block(const Opened& opened, bool was_wanted)
      STOKER_EXCLUDES(mutex_);
  std::shared_ptr<const Block> lent(int64_t block, Cached& cached) STOKER_REQUIRES(mutex_);
  void give_back(int64_t block) STOKER_EXCLUDES(mutex_);
  size_t idle_bytes() const STOKER_REQUIRES(mutex_);
  bool drop_idle(size_t room, bool wanted_too) STOKER_REQUIRES(mutex_);
  bool make_room(size_t bytes) STOKER_REQUIRES(mutex_);
  void drop(std::map<int64_t, Cached>::iterator at) STOKER_REQUIRES(mutex_);
  void wake() STOKER_REQUIRES(mutex_);

  const size_t limit_;
  const ByteStore& store_;
  HostPool& pool_;
  const IndexOf index_of_;

  mutable Mutex mutex_;  // no file is opened, read or closed under it, and index_of_ is not called
  ConditionVariable room_, done_;
  std::unordered_map<int64_t, Entry> entries_ STOKER_GUARDED_BY(mutex_);
  std::set<int64_t> parked_ STOKER_GUARDED_BY(mutex_);
  std::map<int64_t, Cached> blocks_ STOKER_GUARDED_BY(mutex_);
  int64_t next_ STOKER_GUARDED_BY(mutex_) = 0;  // what threads begin next
  int64_t end_ STOKER_GUARDED_BY(mutex_) = 0;  // where they stop
  bool is_full_ STOKER_GUARDED_BY(mutex_) = false;  // threads sleep until a quarter is free
  Stats stats_ STOKER_GUARDED_BY(mutex_);
  bool stopping_ STOKER_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace stoker::io
