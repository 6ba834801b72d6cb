// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/fetch.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/thread.h"

namespace stoker::io {

Fetcher::Fetcher(int threads, size_t limit, const ByteStore& store, HostPool& pool,
                 IndexOf index_of)
    : limit_(limit), store_(store), pool_(pool), index_of_(std::move(index_of)) {
  try {
    for (int i = 0; i < threads; ++i)
      threads_.push_back(start_thread("stoker-reader", "io_threads", [this] { work(); }));
  } catch (...) {
    stop();
    throw;
  }
}

Fetcher::~Fetcher() { stop(); }

void Fetcher::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  for (std::thread& t : threads_) t.join();
}

Fetcher::Opened Fetcher::open(int64_t index, int64_t turn) const {
  Opened o;
  o.index = index;
  o.turn = turn;
  o.place = store_.place(index);
  if (o.place.kind == Place::Kind::kExtents) {
    o.extents = OpenExtents(std::move(o.place.extents));
    o.size = o.extents.size();
  } else {
    o.size = o.is_in_block() ? store_.block_bytes(o.place.block) : o.place.bytes;
  }
  o.is_open = true;
  return o;
}

// Requires: it is not in a block.
Fetched Fetcher::read(const Opened& opened) const {
  Fetched f{ByteBuffer(pool_), {}, nullptr};
  if (opened.place.kind == Place::Kind::kExtents) {
    opened.extents.read(f.bytes, f.parts);
    return f;
  }
  std::vector<size_t> ends;
  store_.fetch(opened.index, f.bytes, ends);
  const auto* data = reinterpret_cast<const uint8_t*>(f.bytes.data());
  for (size_t begin = 0; const size_t end : ends) {
    f.parts.emplace_back(data + begin, end - begin);
    begin = end;
  }
  return f;
}

Fetched Fetcher::read(const Opened& opened, const Admit& admit) {
  if (opened.is_in_block()) return from_block(opened, false, admit);
  admit(opened.size);
  return read(opened);
}

void Fetcher::schedule(int64_t end) {
  const MutexLock lock(mutex_);
  end_ = std::max(end_, end);
  room_.notify_one();
}

std::optional<Fetched> Fetcher::take(int64_t turn, const Admit& admit) {
  MutexLock lock(mutex_);
  bool waited = false;
  auto at = entries_.find(turn);
  while (at != entries_.end() && at->second.state == State::kReading) {
    stats_.waits += !std::exchange(waited, true);
    done_.wait(mutex_);
    at = entries_.find(turn);
  }
  if (at == entries_.end()) {
    if (turn < next_) return std::nullopt;
    mark_taken(turn);
    ++stats_.on_the_spot;
    lock.unlock();
    return read(open(index_of_(turn), turn), admit);
  }
  if (at->second.state == State::kTaken) return std::nullopt;
  Entry entry = std::move(at->second);
  erase(turn);
  const bool on_the_spot = entry.state == State::kParked || entry.state == State::kDropped;
  stats_.on_the_spot += on_the_spot;
  lock.unlock();
  if (entry.error) std::rethrow_exception(std::move(entry.error));
  if (entry.state == State::kDropped) return read(open(index_of_(turn), turn), admit);
  if (on_the_spot) return read(entry.opened, admit);
  if (entry.opened.is_in_block()) return from_block(entry.opened, true, admit);
  admit(entry.fetched.bytes.size());
  return std::move(entry.fetched);
}

Fetched Fetcher::take_again(int64_t index, const Admit& admit) {
  return read(open(index, -1), admit);
}

Fetcher::Stats Fetcher::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

void Fetcher::hold(size_t bytes) {
  stats_.held += bytes;
  stats_.high_water = std::max(stats_.high_water, stats_.held);
}

void Fetcher::release(size_t bytes) {
  stats_.held -= bytes;
  if (is_full_ && stats_.held > limit_ - limit_ / 4) return;
  wake();
}

void Fetcher::wake() {
  is_full_ = false;
  room_.notify_one();
}

void Fetcher::erase(int64_t turn) {
  const auto at = entries_.find(turn);
  release(at->second.cost);
  parked_.erase(turn);
  entries_.erase(at);
}

void Fetcher::mark_taken(int64_t turn) {
  entries_[turn].state = State::kTaken;
  skip_taken();
}

// Drops the marks that the threads have passed, as they are needed no longer.
void Fetcher::skip_taken() {
  for (auto at = entries_.find(next_); at != entries_.end(); at = entries_.find(++next_))
    entries_.erase(at);
}

void Fetcher::work() try {
  MutexLock lock(mutex_);
  while (!stopping_) {
    Job job;
    if (!pick(job)) {
      is_full_ = !parked_.empty() || next_ < end_;
      room_.wait(mutex_);
      continue;
    }
    if (has_work()) room_.notify_one();
    run(job);
  }
} catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): take() does the work and reports
  // There was no memory to note what this thread begins. It begins no more, and take() reads the
  // rest.
}

bool Fetcher::has_work() const {
  if (is_full_) return false;
  if (parked_.empty()) return next_ < end_ && stats_.held - idle_bytes() + kEntryCost <= limit_;
  return has_room(entries_.at(*parked_.begin()).opened);
}

bool Fetcher::has_room(const Opened& opened) const {
  if (!opened.is_in_block()) return stats_.held - idle_bytes() + opened.size <= limit_;
  return blocks_.contains(opened.place.block) || stats_.held - idle_bytes() + opened.size <= limit_;
}

// Picks the first sample that waits for room, else the next one in order.
bool Fetcher::pick(Job& job) {
  if (!has_work()) return false;
  if (!parked_.empty()) {
    job.turn = *parked_.begin();
    parked_.erase(parked_.begin());
    Entry& entry = entries_.at(job.turn);
    entry.state = State::kReading;
    job.cost = entry.cost;
    job.opened = std::move(entry.opened);
    return true;
  }
  (void)drop_idle(kEntryCost, false);
  entries_.emplace(next_, Entry{});
  job.turn = next_++;
  skip_taken();
  job.cost = kEntryCost;
  hold(job.cost);
  return true;
}

void Fetcher::run(Job& job) {
  Fetched fetched;
  std::exception_ptr error;
  {
    const MutexUnlock unlock(mutex_);
    try {
      if (!job.opened.is_open) job.opened = open(index_of_(job.turn), job.turn);
      MutexLock lock(mutex_);
      if (job.opened.is_in_block() ? want_block(job) : !take_room(job)) return;
      lock.unlock();
      fetched = read(job.opened);
    } catch (...) {
      error = std::current_exception();
    }
    job.opened = {};  // closes the file
  }
  finish(job, std::move(fetched), std::move(error));
}

// Takes room for a job's bytes, or parks the job. Returns whether to go on.
bool Fetcher::take_room(Job& job) {
  if (drop_idle(job.opened.size, false)) {
    hold(job.opened.size);
    job.cost += job.opened.size;
    entries_.at(job.turn).cost = job.cost;
    return true;
  }
  park(job);
  return false;
}

void Fetcher::park(Job& job) {
  parked_.insert(job.turn);
  Entry& entry = entries_.at(job.turn);
  entry.state = State::kParked;
  entry.cost = job.cost;
  entry.opened = std::move(job.opened);
  done_.notify_all();
}

void Fetcher::finish(const Job& job, Fetched fetched, std::exception_ptr error) {
  Entry& entry = entries_.at(job.turn);
  release(job.cost);
  entry.cost = kEntryCost + fetched.bytes.size();
  hold(entry.cost);
  entry.state = error ? State::kFailed : State::kReady;
  entry.fetched = std::move(fetched);
  entry.error = std::move(error);
  ++stats_.ahead;
  done_.notify_all();
}

// A sample is ready once its block is loaded or being loaded: the first one that wants it loads it.
// Parks the job where there is no room. Returns true: there is no more to do.
bool Fetcher::want_block(Job& job) {
  const int64_t number = job.opened.place.block, turn = job.turn;
  const size_t bytes = job.opened.size;
  const bool is_there = blocks_.contains(number);
  if (!is_there && (bytes > limit_ || !drop_idle(bytes, false))) {
    park(job);
    return true;
  }
  Entry& entry = entries_.at(turn);
  entry.state = State::kReady;
  entry.cost = job.cost;
  entry.opened = std::move(job.opened);
  ++stats_.ahead;
  Cached& cached = blocks_[number];
  ++cached.wanted;
  cached.last_turn = std::max(cached.last_turn, turn);
  done_.notify_all();
  if (!is_there) load(number, bytes);
  return true;
}

// Requires: there is room, and nobody loads the block.
void Fetcher::load(int64_t block, size_t bytes) {
  blocks_[block].cost = bytes;
  hold(bytes);
  std::shared_ptr<const Block> loaded;
  std::exception_ptr error;
  {
    const MutexUnlock unlock(mutex_);
    try {
      loaded = store_.load(block);
    } catch (...) {
      error = std::current_exception();
    }
  }
  Cached& cached = blocks_.at(block);  // nobody drops what is being loaded
  cached.block = std::move(loaded);
  cached.error = std::move(error);
  ++stats_.blocks;
  if (cached.error) release(std::exchange(cached.cost, 0));
  done_.notify_all();
}

Fetched Fetcher::from_block(const Opened& opened, bool was_wanted, const Admit& admit) {
  Fetched f;
  if (opened.size > limit_) {
    admit(opened.size);
    f.block = store_.load(opened.place.block);
  } else {
    f.block = use_block(opened, was_wanted);
  }
  store_.find(opened.index, *f.block, f.parts);
  return f;
}

std::shared_ptr<const Block> Fetcher::use_block(const Opened& opened, bool was_wanted) {
  const int64_t number = opened.place.block;
  MutexLock lock(mutex_);
  bool waited = false;
  for (;;) {
    const auto at = blocks_.find(number);
    if (at != blocks_.end() && !at->second.is_loading()) {
      Cached& cached = at->second;
      if (was_wanted && cached.wanted > 0) --cached.wanted;
      cached.last_turn = std::max(cached.last_turn, opened.turn);
      if (!cached.error) return lent(number, cached);
      const std::exception_ptr error = cached.error;
      if (cached.wanted == 0) drop(at);
      wake();
      std::rethrow_exception(error);
    }
    if (at == blocks_.end()) {
      was_wanted = false;
      if (make_room(opened.size)) {
        load(number, opened.size);
        continue;
      }
    }
    stats_.waits += !std::exchange(waited, true);
    done_.wait(mutex_);
  }
}

// The block, for a sample at work. It is given back when the last copy goes.
std::shared_ptr<const Block> Fetcher::lent(int64_t block, Cached& cached) {
  struct Loan {
    Fetcher* from;
    int64_t number;
    std::shared_ptr<const Block> block;
    Loan(Fetcher* f, int64_t n, std::shared_ptr<const Block> b)
        : from(f), number(n), block(std::move(b)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { from->give_back(number); }
  };
  const auto loan = std::make_shared<const Loan>(this, block, cached.block);
  ++cached.users;
  return {loan, loan->block.get()};
}

void Fetcher::give_back(int64_t block) {
  const MutexLock lock(mutex_);
  Cached& cached = blocks_.at(block);  // nobody drops what is in use
  if (--cached.users > 0) return;
  wake();
  done_.notify_all();
}

// The bytes of blocks that may be dropped at once.
size_t Fetcher::idle_bytes() const {
  size_t n = 0;
  for (const auto& [number, c] : blocks_)
    if (c.is_idle() && c.wanted == 0) n += c.cost;
  return n;
}

void Fetcher::drop(std::map<int64_t, Cached>::iterator at) {
  stats_.held -= at->second.cost;
  blocks_.erase(at);
}

// Drops idle blocks until `room` bytes are free, first those not wanted for the longest time, then,
// with `wanted_too`, those that will be wanted last. Returns whether there is room.
bool Fetcher::drop_idle(size_t room, bool wanted_too) {
  while (stats_.held + room > limit_) {
    auto worst = blocks_.end();
    const auto is_worse = [&](const Cached& a, const Cached& b) {
      if ((a.wanted == 0) != (b.wanted == 0)) return a.wanted == 0;
      return a.wanted == 0 ? a.last_turn < b.last_turn : a.last_turn > b.last_turn;
    };
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at)
      if (at->second.is_idle() && (wanted_too || at->second.wanted == 0) &&
          (worst == blocks_.end() || is_worse(at->second, worst->second)))
        worst = at;
    if (worst == blocks_.end()) return false;
    drop(worst);
  }
  return true;
}

// Makes room for a block that a sample at work needs. Returns false if it must wait until others
// give back their blocks or reads end.
bool Fetcher::make_room(size_t bytes) {
  if (drop_idle(bytes, true)) return true;
  // Samples without bytes do not count: they are small and stay until taken. Those being read can
  // be dropped once they are read.
  size_t busy = 0;
  for (auto& [turn, entry] : entries_) {
    if (entry.state == State::kReading && entry.cost > kEntryCost) busy += entry.cost - kEntryCost;
    if (entry.state != State::kReady || entry.opened.is_in_block()) continue;
    entry.state = State::kDropped;
    entry.fetched = {};
    stats_.held -= entry.cost - kEntryCost;
    entry.cost = kEntryCost;
  }
  for (const auto& [number, c] : blocks_) busy += c.cost;
  return busy + bytes <= limit_;
}

}  // namespace stoker::io
