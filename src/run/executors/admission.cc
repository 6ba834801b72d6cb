// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/admission.h"

namespace stoker {

using State = IterationState;

Ticket Admission::next(size_t worker) {
  const auto holders = std::count(holds_.begin(), holds_.end(), true);
  const bool is_lone = ring_.wants_one_alone() && holders == (holds_[worker] ? 1 : 0);
  const Ticket ticket = ring_.next(is_lone ? Who::kLoneWorker : Who::kWorker);
  if (ticket) holds_[worker] = true;
  return ticket;
}

// An iteration that starved or was to make room is the oldest now: its next try ends with a sample,
// with room made for it or with an error.
void Admission::next_oldest() {
  is_tight_ = false;
  for (auto& it : ring_) it->is_closing = false;
  if (!ring_.is_empty() && ring_.front().is(State::kStarved)) ring_.front().state = State::kWorking;
}

void Admission::starve(Iteration& it, int64_t rooms, std::optional<Starved> why) {
  if (why) starved_ = *why;
  if (rooms != rooms_) return;
  if (it.is(State::kAlone)) it.state = why ? State::kStuck : State::kStarved;
  if (it.is(State::kWorking)) it.state = State::kStarved;
}

bool Admission::released() {
  ++rooms_;
  bool has_changed = try_again();
  for (auto& it : ring_) {
    if (!it->is(State::kStarved)) continue;
    it->state = State::kWorking;
    has_changed = true;
  }
  return has_changed;
}

void Admission::released_on_device() {
  for (auto& it : ring_)
    if (it->is(State::kStarved) && it->kind() == StageKind::kDevice) it->state = State::kWorking;
}

bool Admission::make_room() {
  if (ring_.is_empty() || !ring_.front().is(State::kStarved) ||
      ring_.front().kind() == StageKind::kDevice)
    return false;
  is_tight_ = true;
  if (ring_.size() > 1) {
    close_youngest();
    return false;
  }
  if (is_burying() || is_opening_ || ring_.front().running_count) return false;  // some will come
  ring_.front().state = State::kAlone;
  return true;
}

// While the oldest was in an earlier stage, younger ones may have taken the device's memory.
bool Admission::make_device_room() {
  const auto holds = [](auto& it) { return it->for_device.outputs || !it->step.on_device.empty(); };
  if (std::none_of(ring_.begin() + 1, ring_.end(), holds)) return false;
  is_tight_ = true;
  close_youngest();
  return true;
}

void Admission::close_youngest() {
  ring_.back().is_closing = true;
  close_what_is_closing();
}

void Admission::close_what_is_closing() {
  while (ring_.size() > 1 && ring_.back().is_closing && !ring_.back().running_count)
    bury(ring_.take_back());
}

bool Admission::is_stuck() const {
  if (unopened_) return true;
  return !ring_.is_empty() && ring_.front().is(State::kStuck) && !is_burying() && !is_opening_;
}

bool Admission::try_again() {
  if (ring_.is_empty() || !ring_.front().is(State::kStuck)) return false;
  ring_.front().state = State::kAlone;
  return true;
}

std::exception_ptr Admission::stuck_error(const HostPool& pool, int64_t batch_size) const {
  if (unopened_)
    return std::make_exception_ptr(
        NoRoom("a batch of up to " + std::to_string(batch_size) + " samples", unopened_, pool));
  const bool is_sample = ring_.front().kind() == StageKind::kChain;
  const std::string what =
      std::string(is_sample ? "the next sample" : "a stage") + " of the oldest batch";
  if (starved_.why.empty()) return std::make_exception_ptr(NoRoom(what, starved_.bytes, pool));
  return std::make_exception_ptr(BudgetError("no memory for " + what + ". " + starved_.why));
}

std::vector<std::unique_ptr<Iteration>> Admission::take_dead() {
  if (!graveyard_.empty()) ++burying_;
  return std::exchange(graveyard_, {});
}

void Admission::buried() {
  --burying_;
  released();
}

}  // namespace stoker
