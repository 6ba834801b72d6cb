// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing iterations, and working alone, as memory allows: see Note [Memory] and Note
// [Alone].
#include "run/executors/pipelined.h"

namespace stoker {

namespace {

thread_local bool gives_back = false;  // this thread is in forget()

}  // namespace

// Opens iterations as depth, budget and feeds allow, and destroys closed ones. While memory is
// tight, it opens only the oldest.
void Pipelined::open_iterations() {
  opened_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return !is_opening_; });
  std::exception_ptr failure;
  for (bool goes_on = true; goes_on;) {
    goes_on = may_open() && open_next(failure);
    bury();
  }
  if (failure) std::rethrow_exception(failure);
}

int64_t Pipelined::next_number() const {
  return ring_.empty() ? next_number_ : ring_.back()->step.number + 1;
}

bool Pipelined::may_open() const {
  if (is_stopping_ || is_opening_ ||
      static_cast<int>(ring_.size()) >= settings().prefetch_queue_depth || opens_only_oldest())
    return false;
  return feeds_.has(first_fed_ + next_number()) &&
         (ring_.empty() || pool_.has_room(largest_bytes_));
}

// Returns false if another try makes no sense. A try makes sense if memory was released while this
// one was looking for it, or if older iterations were closed, which are to be made first.
bool Pipelined::open_next(std::exception_ptr& failure) {
  const int64_t number = next_number(), rooms = rooms_;
  auto it = std::make_unique<Iteration>(*plan_, number, cursors_.at(number),
                                        feeds_.at(first_fed_ + number), options_);
  const bool has_memory = allocate(it->step, failure);
  const bool finds_none = !has_memory && !failure && rooms == rooms_;
  is_oldest_unopened_ = finds_none && ring_.empty() && !burying_;
  if (is_oldest_unopened_) batch_bytes_ = it->step.fixed_bytes();
  if (!has_memory || number != next_number() || opens_only_oldest()) {
    graveyard_.push_back(std::move(it));
    return !finds_none && !failure;
  }
  next_number_ = number + 1;
  ring_.push_back(std::move(it));
  work_.notify_all();
  return true;
}

// Looks for memory without the lock: pinning it may wait for the device, and the device for calls
// that take the lock.
bool Pipelined::allocate(Step& step, std::exception_ptr& failure) {
  bool has_memory = false;
  is_opening_ = true;
  try {
    const MutexUnlock unlocked(mutex_);
    has_memory = step.allocate(pool_, true);
  } catch (...) {
    failure = std::current_exception();
  }
  is_opening_ = false;
  opened_.notify_all();
  return has_memory;
}

// The device may still use memory of steps that were handed out: waits until it is done with that.
void Pipelined::finish_device() {
  {
    const MutexUnlock unlocked(mutex_);
    device_->finish();
  }
  open_iterations();
}

// For the oldest iteration, which found no room: closes the youngest one, or tries again with one
// sample at a time, or gives up until the user makes room.
void Pipelined::make_room(Iteration& front) {
  is_tight_ = true;
  if (ring_.size() > 1) {
    close_youngest();
  } else if (burying_ || is_opening_ || !graveyard_.empty() || front.running_count) {
    return;  // memory is about to be released
  } else if (!front.is_alone) {
    front.is_alone = true;
    front.is_starved = false;
    work_.notify_all();
  } else {
    is_oldest_stuck_ = true;
    done_.notify_all();
  }
}

void Pipelined::close_youngest() {
  ring_.back()->is_closing = true;
  close_what_is_closing();
}

void Pipelined::close_what_is_closing() {
  while (ring_.size() > 1 && ring_.back()->is_closing && !ring_.back()->running_count &&
         !ring_.back()->is_issuing) {
    next_number_ = ring_.back()->step.number;
    graveyard_.push_back(std::move(ring_.back()));
    ring_.pop_back();
  }
}

// Whether one worker works alone, or is to begin that as soon as the others have trimmed.
bool Pipelined::is_for_one_worker() const {
  if (is_one_alone_) return true;
  if (ring_.empty()) return false;
  const Iteration& front = *ring_.front();
  return front.large_count && !front.is_starved && !front.is_closing && !front.step.fatal;
}

// Gives a worker memory to itself, with a ticket. Returns null while others hold memory.
Iteration* Pipelined::begin_alone(size_t worker, int& i) {
  const int64_t holders = std::count(holds_memory_.begin(), holds_memory_.end(), true);
  const bool others_hold = holders > (holds_memory_[worker] ? 1 : 0);
  if (is_one_alone_ || others_hold) return nullptr;
  is_one_alone_ = true;
  Iteration& front = *ring_.front();
  i = front.give_out(TicketState::kLarge);
  return &front;
}

void Pipelined::trim(size_t worker) {
  {
    const MutexUnlock unlocked(mutex_);
    workers_[worker]->maker.trim();
    workers_[worker]->scratch.store(0, std::memory_order_relaxed);
  }
  holds_memory_[worker] = false;
  work_.notify_all();
}

// Called by the pool, without its locks, in whatever thread released a buffer.
void Pipelined::memory_released() {
  if (gives_back) return;
  const MutexLock lock(mutex_);
  room_was_made();
}

// Releases what a sample took before it found no room. There is then as much room as before, so
// nobody is told. Otherwise two samples that find no room because of each other would try forever.
void Pipelined::forget(Iteration& it, int i) {
  gives_back = true;
  it.step.forget(i, it.round);
  gives_back = false;
}

void Pipelined::room_was_made() {
  ++rooms_;
  for (auto& it : ring_) it->is_starved = false;
  is_oldest_stuck_ = false;
  work_.notify_all();
  issue_.notify_all();
}

// Destroys closed iterations without the lock, because their buffers call memory_released().
void Pipelined::bury() {
  if (graveyard_.empty()) return;
  std::vector<std::unique_ptr<Iteration>> dead;
  dead.swap(graveyard_);
  ++burying_;
  {
    const MutexUnlock unlocked(mutex_);
    dead.clear();
  }
  --burying_;
  room_was_made();
}

std::string Pipelined::stuck_message() const {
  if (is_oldest_unopened_)
    return no_memory_for("a batch of up to " + std::to_string(plan_->batch_size()) + " samples",
                         batch_bytes_, pool_);
  const std::string what = "the next sample of the oldest batch";
  if (starved_.why.empty()) return no_memory_for(what, starved_.bytes, pool_);
  return "no memory for " + what + ". " + starved_.why;
}

}  // namespace stoker
