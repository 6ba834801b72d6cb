// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/ring.h"

namespace stoker {

using State = IterationState;

void Ring::open(std::unique_ptr<Iteration> it) {
  next_number_ = it->step.number + 1;
  iterations_.push_back(std::move(it));
}

std::unique_ptr<Iteration> Ring::take_front() {
  std::unique_ptr<Iteration> it = std::move(iterations_.front());
  iterations_.pop_front();
  return it;
}

std::unique_ptr<Iteration> Ring::take_back() {
  std::unique_ptr<Iteration> it = std::move(iterations_.back());
  iterations_.pop_back();
  next_number_ = it->step.number;
  return it;
}

bool Ring::wants_one_alone() const {
  return !is_empty() && front().large_count &&
         (front().is(State::kWorking) || front().is(State::kAlone));
}

// Whether all older iterations have begun this stage or will not come to it.
bool Ring::is_in_turn(size_t k) const {
  const int stage = iterations_[k]->stage;
  return std::all_of(begin(), begin() + static_cast<int64_t>(k), [&](auto& older) {
    return older->stage > stage || (older->stage == stage && older->call) ||
           older->is(State::kReady) || older->is(State::kFailed);
  });
}

bool Ring::may_start(size_t k, Who who) const {
  const Iteration& it = *iterations_[k];
  const bool gives_out = it.is(State::kWorking) || (it.is(State::kAlone) && !it.running_count);
  if (!gives_out || it.is_closing) return false;
  if (it.kind() == StageKind::kDevice) return who == Who::kIssuer && is_in_turn(k);
  if (who != Who::kWorker) return false;
  if (it.kind() != StageKind::kPython) return true;
  if (it.call) return it.call->is_over;
  const int node = it.step.plan.stage(it.stage).nodes[0];
  return is_in_turn(k) && (k == 0 || !it.step.plan.node(node).function->is_stateful());
}

Ticket Ring::next(Who who) const {
  if (who != Who::kIssuer && wants_one_alone()) {
    const int i = who == Who::kLoneWorker ? front().give_out(TicketState::kLarge) : -1;
    return i < 0 ? Ticket{} : Ticket{&front(), i};
  }
  for (size_t k = 0; k < iterations_.size(); ++k) {
    if (!may_start(k, who)) continue;
    const int i = iterations_[k]->give_out(TicketState::kPending);
    if (i >= 0) return {iterations_[k].get(), i};
  }
  return {};
}

Iteration* Ring::next_to_poll() const {
  for (auto& it : iterations_)
    if (it->is(State::kAwaiting) && it->for_device.copied && it->for_device.polled_at != polls)
      return it.get();
  return nullptr;
}

}  // namespace stoker
