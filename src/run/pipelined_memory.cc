// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing iterations, as memory allows: see Note [Memory].
#include "run/pipelined.h"

namespace stoker {

namespace {

thread_local bool gives_back = false;  // this thread is in forget()

}  // namespace

// Opens what depth, budget and feeds allow. With memory tight only the oldest iteration goes on.
void Pipelined::open_iterations() {
  while (!stop_ && static_cast<int>(ring_.size()) < options_.depth && !(tight_ && !ring_.empty())) {
    const int64_t number = ring_.empty() ? next_number_ : ring_.back()->step.number + 1;
    if (!feeds_.has(first_fed_ + number)) return;
    if (!ring_.empty() && !pool_.has_room(largest_bytes_)) return;
    auto it = std::make_unique<Iteration>(*plan_, number, cursors_.at(number),
                                          feeds_.at(first_fed_ + number), options_.on_error);
    if (!it->step.allocate(pool_)) {
      graveyard_.push_back(std::move(it));
      unopened_ = ring_.empty();
      return;
    }
    unopened_ = false;
    next_number_ = number + 1;
    ring_.push_back(std::move(it));
    work_.notify_all();
  }
}

// The oldest iteration found no room: close the youngest one, or try once more with one sample at a time, or give up until the
// user makes room.
void Pipelined::make_room(Iteration& front) {
  tight_ = true;
  if (ring_.size() > 1) {
    close_youngest();
  } else if (burying_ || !graveyard_.empty() || front.running) {
    return;  // memory is about to come
  } else if (!front.is_alone) {
    front.is_alone = true;
    front.is_starved = false;
    work_.notify_all();
  } else {
    stuck_ = true;
    done_.notify_all();
  }
}

void Pipelined::close_youngest() {
  ring_.back()->is_closing = true;
  close_what_is_closing();
}

void Pipelined::close_what_is_closing() {
  while (ring_.size() > 1 && ring_.back()->is_closing && !ring_.back()->running &&
         !ring_.back()->is_issuing) {
    next_number_ = ring_.back()->step.number;
    graveyard_.push_back(std::move(ring_.back()));
    ring_.pop_back();
  }
}

// Called by the pool, without its locks, from whatever thread let go of a buffer.
void Pipelined::memory_released() {
  if (gives_back) return;
  std::lock_guard lock(mutex_);
  room_was_made();
}

// What a sample took before it found no room. That is as much as there was before, so nobody is told: two samples that find no
// room because of each other would try forever.
void Pipelined::forget(Iteration& it, int i) {
  gives_back = true;
  it.step.forget(i, it.round);
  gives_back = false;
}

void Pipelined::room_was_made() {
  ++rooms_;
  for (auto& it : ring_) it->is_starved = false;
  stuck_ = false;
  work_.notify_all();
  issue_.notify_all();
}

// Lets go of closed iterations without the lock: their buffers call memory_released().
void Pipelined::bury(Lock& lock) {
  if (graveyard_.empty()) return;
  std::vector<std::unique_ptr<Iteration>> dead;
  dead.swap(graveyard_);
  ++burying_;
  lock.unlock();
  dead.clear();
  lock.lock();
  --burying_;
  room_was_made();
}

std::string Pipelined::stuck_message() const {
  if (unopened_)
    return "no memory for a batch of up to " + std::to_string(plan_->batch_size()) + " samples. " +
           pool_.explain();
  return "no memory for the next sample of the oldest batch. " +
         (starved_for_.empty() ? pool_.explain() : starved_for_);
}

}  // namespace stoker
