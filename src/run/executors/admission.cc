// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/admission.h"

#include "run/step/no_room.h"

namespace stoker {

using State = IterationState;

Ticket Admission::next_ticket(size_t worker) {
  const auto holders = std::count(holds_.begin(), holds_.end(), true);
  const bool is_lone = queue_.wants_one_alone() && holders == (holds_[worker] ? 1 : 0);
  const Ticket ticket = queue_.next_ticket(is_lone ? Who::kLoneWorker : Who::kWorker);
  if (ticket) holds_[worker] = true;
  return ticket;
}

// An iteration that starved or was to make room is now the oldest: its next try ends with a sample,
// with room made for it, or with an error.
std::unique_ptr<Iteration> Admission::take_oldest() {
  std::unique_ptr<Iteration> oldest = queue_.take_front();
  is_tight_ = false;
  for (auto& it : queue_) it->is_cancelled = false;
  if (!queue_.is_empty() && queue_.front().is(State::kStarved))
    queue_.front().state = State::kWorking;
  return oldest;
}

void Admission::wait_for_memory(const Ticket& ticket, const Starved* why) {
  Iteration& it = *ticket.iteration;
  if (why) starved_ = *why;
  if (ticket.releases != queue_.releases) return;
  if (it.is(State::kAlone)) it.state = why ? State::kStuck : State::kStarved;
  if (it.is(State::kWorking)) it.state = State::kStarved;
}

bool Admission::released() {
  ++queue_.releases;
  bool has_changed = try_again();
  for (auto& it : queue_) {
    if (!it->is(State::kStarved)) continue;
    it->state = State::kWorking;
    has_changed = true;
  }
  return has_changed;
}

void Admission::released_on_device() {
  for (auto& it : queue_)
    if (it->is(State::kStarved) && it->kind() == StageKind::kDevice) it->state = State::kWorking;
}

bool Admission::make_room() {
  queue_.end_cancelled();
  if (queue_.is_empty() || !queue_.front().is(State::kStarved) ||
      queue_.front().kind() == StageKind::kDevice)
    return false;
  is_tight_ = true;
  if (queue_.size() > 1) {
    queue_.cancel_youngest();
    return false;
  }
  if (queue_.is_destroying() || is_opening() || queue_.front().running_count)
    return false;  // some will come
  queue_.front().state = State::kAlone;
  return true;
}

// While the oldest was in an earlier stage, younger ones may have taken the device's memory.
bool Admission::starve_for_device(const Ticket& ticket, bool tries_again) {
  if (!tries_again) wait_for_memory(ticket, nullptr);
  if (ticket.iteration != &queue_.front()) return true;
  const auto holds = [](auto& it) {
    return it->issued.outputs || !it->step.on_device.values.empty();
  };
  if (std::none_of(queue_.begin() + 1, queue_.end(), holds)) return false;
  is_tight_ = true;
  queue_.cancel_youngest();
  return true;
}

bool Admission::may_open(int depth) const {
  return !is_opening() && queue_.size() < depth && !opens_only_oldest();
}

bool Admission::end_opening(std::unique_ptr<Iteration> it, bool has_memory, bool has_failed) {
  const int64_t since = *std::exchange(opening_since_, std::nullopt);
  const bool finds_none = !has_memory && !has_failed && since == queue_.releases;
  const bool is_stuck = finds_none && queue_.is_empty() && !queue_.is_destroying();
  unopened_ = is_stuck ? it->step.slots.fixed_bytes() : 0;
  const bool is_next = it->step.number == queue_.next_number() && !opens_only_oldest();
  if (has_memory && is_next) queue_.open(std::move(it));
  else queue_.cancel(std::move(it));
  return !finds_none && !has_failed;
}

bool Admission::is_stuck() const {
  if (unopened_) return true;
  return !queue_.is_empty() && queue_.front().is(State::kStuck) && !queue_.is_destroying() &&
         !is_opening();
}

bool Admission::try_again() {
  if (queue_.is_empty() || !queue_.front().is(State::kStuck)) return false;
  queue_.front().state = State::kAlone;
  return true;
}

std::exception_ptr Admission::stuck_error(const HostPool& pool, int64_t batch_size) {
  (void)try_again();  // the user may make room and call again
  if (unopened_)
    return std::make_exception_ptr(
        NoRoom("a batch of up to " + std::to_string(batch_size) + " samples", unopened_, pool));
  const bool is_sample = queue_.front().kind() == StageKind::kChain;
  const std::string what =
      std::string(is_sample ? "the next sample" : "a stage") + " of the oldest batch";
  if (starved_.why.empty()) return std::make_exception_ptr(NoRoom(what, starved_.bytes, pool));
  return std::make_exception_ptr(BudgetError("no memory for " + what + ". " + starved_.why));
}

}  // namespace stoker
