// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The thread that talks to the device; the rounds of a step and their order.
#include "run/executors/pipelined.h"

namespace stoker {

namespace {

constexpr std::chrono::milliseconds kPatience(50);  // a lost GPU makes no host calls, so poll

}  // namespace

void Pipelined::run_issuer() {
  const MutexLock lock(mutex_);
  while (!is_stopping_) {
    if (Iteration* it = next_to_issue()) {
      if (it->copies_ready) try_begin_next_round(*it);
      else issue_round(*it);
      continue;
    }
    rest();
  }
}

// Waits until something may have changed.
void Pipelined::rest() {
  const auto awaits_copies = [](auto& it) { return it->copies_ready != nullptr; };
  if (std::none_of(ring_.begin(), ring_.end(), awaits_copies)) issue_.wait(mutex_);
  else if (issue_.wait_for(mutex_, kPatience) == std::cv_status::timeout) ++polls_;
}

// The oldest iteration that has work for the device. Iterations begin there in order.
Iteration* Pipelined::next_to_issue() {
  for (auto& it : ring_) {
    if (is_ready(*it) || it->is_closing) continue;
    if (it->copies_ready) {
      if (it->polled_at != polls_) return it.get();
    } else if (it->is_round_over()) {
      return it.get();
    } else if (it->round == 0) {
      return nullptr;
    }
  }
  return nullptr;
}

// If the user was waiting when the try began, the decoder gives up its spare memory, and lack of
// room is an error. For a user who came during the try, another try follows at once.
void Pipelined::issue_round(Iteration& it) {
  it.is_issuing = true;
  const auto is_awaited = [&]() STOKER_REQUIRES(mutex_) {
    return user_waits_ && &it == ring_.front().get();
  };
  const bool was_awaited = is_awaited();
  const int64_t rooms = rooms_;
  std::exception_ptr fatal, full;
  Enqueued enqueued;
  bool is_to_rewind = false;
  try {
    const MutexUnlock unlocked(mutex_);
    is_to_rewind = it.step.is_to_rewind();
    if (is_to_rewind) it.step.rewind();
    else enqueued = was_awaited ? device_->insist([&] { return enqueue(it); }) : enqueue(it);
  } catch (const DeviceFull&) {
    full = std::current_exception();
  } catch (...) {
    fatal = std::current_exception();
  }
  it.is_issuing = false;
  // The user releases nothing while waiting, so the oldest iteration has nothing to wait for then.
  if (full && &it == ring_.front().get() && !make_device_room() && was_awaited) fatal = full;
  it.step.fatal = fatal;
  it.is_issued = enqueued.is_last;
  it.copies_ready = std::move(enqueued.copies_ready);
  if (is_to_rewind) it.begin_round(0);
  for (int i : enqueued.refused) it.give_back(i);
  if (is_to_rewind || !enqueued.refused.empty()) work_.notify_all();
  close_what_is_closing();
  if (front_ready()) done_.notify_all();
  bury();
  if (full && !fatal && rooms == rooms_ && was_awaited == is_awaited() && !is_stopping_) rest();
}

// Enqueues the device's part of the iteration's round. Throws DeviceFull; then it can be called
// again.
Pipelined::Enqueued Pipelined::enqueue(Iteration& it) {
  const bool is_last = it.round + 1 == plan_->round_count() || it.step.made_samples().empty();
  if (!it.is_collected) {
    std::vector<int> refused = device_->decode(it.step, it.round);
    if (!refused.empty()) return {.refused = std::move(refused)};
    if (is_last) it.outputs = it.step.publish(plan_, pool_);
    else it.step.collect(it.round);
    it.is_collected = true;
  }
  if (is_last) {
    if (!it.outputs->is_lost) device_->enqueue(it.step, it.round, &*it.outputs);
    return {.is_last = true};
  }
  device_->enqueue(it.step, it.round);
  return {.copies_ready = device_->notify(it.step, [bell = bell_] {
    const MutexLock lock(bell->mutex);
    if (bell->executor) bell->executor->ring_bell();
  })};
}

// Called in a thread of the device's runtime, after the work of a round.
void Pipelined::ring_bell() {
  const MutexLock lock(mutex_);
  ++polls_;
  issue_.notify_all();
}

// Begins the next round if the values that it reads are on the host.
void Pipelined::try_begin_next_round(Iteration& it) {
  it.polled_at = polls_;
  it.is_issuing = true;
  std::exception_ptr fatal;
  bool is_there = false;
  {
    const MutexUnlock unlocked(mutex_);
    try {
      is_there = it.copies_ready->query();
      if (is_there) it.copies_ready->check();
    } catch (...) {
      fatal = std::current_exception();
    }
    if (is_there) it.copies_ready.reset();
  }
  it.is_issuing = false;
  if (is_there) it.begin_round(it.round + 1);
  it.step.fatal = fatal;
  close_what_is_closing();
  if (front_ready()) done_.notify_all();
  work_.notify_all();
  bury();
}

// Makes room for the oldest iteration: while it was in an earlier round, younger ones may have
// taken the device's memory. Returns false if they hold none.
bool Pipelined::make_device_room() {
  const auto holds = [](auto& other) { return other->is_issued || !other->step.on_device.empty(); };
  if (std::none_of(ring_.begin() + 1, ring_.end(), holds)) return false;
  is_tight_ = true;
  close_youngest();
  return true;
}

}  // namespace stoker
