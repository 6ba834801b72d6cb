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

Fetcher::Fetcher(int threads, size_t limit, Locate locate)
    : limit_(limit),
      locate_(std::move(locate)),
      pool_(std::make_shared<BytePool>(limit / 4)) {  // as much as is free when threads wake
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

Bytes Fetcher::read(const OpenExtent& extent) const {
  Bytes bytes(pool_->get(extent.size()), pool_);
  extent.read(bytes.buffer());
  return bytes;
}

Bytes Fetcher::read(const OpenExtent& extent, const Admit& admit) const {
  admit(extent.size());
  return read(extent);
}

void Fetcher::schedule(int64_t end) {
  const MutexLock lock(mutex_);
  end_ = std::max(end_, end);
  room_.notify_one();
}

std::optional<Bytes> Fetcher::take(int64_t turn, const Admit& admit) {
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
    return read(OpenExtent(locate_(turn)), admit);
  }
  if (at->second.state == State::kTaken) return std::nullopt;
  Entry entry = std::move(at->second);
  erase(turn);
  const bool on_the_spot = entry.state == State::kParked;
  stats_.on_the_spot += on_the_spot;
  lock.unlock();
  if (entry.error) std::rethrow_exception(std::move(entry.error));
  if (on_the_spot) return read(entry.extent, admit);
  admit(entry.bytes.size());
  return std::move(entry.bytes);
}

Fetcher::Stats Fetcher::stats() const {
  const MutexLock lock(mutex_);
  Stats s = stats_;
  s.unused = pool_->unused();
  return s;
}

void Fetcher::hold(size_t bytes) {
  stats_.held += bytes;
  stats_.high_water = std::max(stats_.high_water, stats_.held);
}

void Fetcher::release(size_t bytes) {
  stats_.held -= bytes;
  if (is_full_ && stats_.held > limit_ - limit_ / 4) return;
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

// A mark is needed only until the threads have come to it.
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
  // There was no memory to note what this thread begins, so it has begun nothing. It begins no
  // more, and take() reads what it would have read.
}

bool Fetcher::has_work() const {
  if (is_full_) return false;
  if (parked_.empty()) return next_ < end_ && stats_.held + kEntryCost <= limit_;
  return stats_.held + entries_.at(*parked_.begin()).extent.size() <= limit_;
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
    job.extent = std::move(entry.extent);
    return true;
  }
  entries_.emplace(next_, Entry{});
  job.turn = next_++;
  skip_taken();
  job.cost = kEntryCost;
  hold(job.cost);
  return true;
}

void Fetcher::run(Job& job) {
  Bytes bytes;
  std::exception_ptr error;
  {
    const MutexUnlock unlock(mutex_);
    try {
      if (!job.extent.is_open()) job.extent = OpenExtent(locate_(job.turn));
      MutexLock lock(mutex_);
      if (!take_room(job)) return;
      lock.unlock();
      bytes = read(job.extent);
    } catch (...) {
      error = std::current_exception();
    }
    job.extent = {};  // closes the file
  }
  finish(job, std::move(bytes), std::move(error));
}

// Takes room for a job's bytes, or parks the job. Returns whether to go on.
bool Fetcher::take_room(Job& job) {
  if (stats_.held + job.extent.size() <= limit_) {
    hold(job.extent.size());
    job.cost += job.extent.size();
    return true;
  }
  parked_.insert(job.turn);
  Entry& entry = entries_.at(job.turn);
  entry.state = State::kParked;
  entry.cost = job.cost;
  entry.extent = std::move(job.extent);
  done_.notify_all();
  return false;
}

void Fetcher::finish(const Job& job, Bytes bytes, std::exception_ptr error) {
  Entry& entry = entries_.at(job.turn);
  release(job.cost);
  entry.cost = kEntryCost + bytes.size();
  hold(entry.cost);
  entry.state = error ? State::kFailed : State::kReady;
  entry.bytes = std::move(bytes);
  entry.error = std::move(error);
  ++stats_.ahead;
  done_.notify_all();
}

}  // namespace stoker::io
