// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/iteration_queue.h"

namespace stoker {

using State = IterationState;

void IterationQueue::open(std::unique_ptr<Iteration> it) {
  next_number_ = it->step.number + 1;
  iterations_.push_back(std::move(it));
}

std::unique_ptr<Iteration> IterationQueue::take_front() {
  std::unique_ptr<Iteration> it = std::move(iterations_.front());
  iterations_.pop_front();
  return it;
}

void IterationQueue::cancel_youngest() {
  back().is_cancelled = true;
  end_cancelled();
}

void IterationQueue::end_cancelled() {
  while (size() > 1 && back().is_cancelled && !back().running_count) {
    next_number_ = back().step.number;
    cancel(std::move(iterations_.back()));
    iterations_.pop_back();
  }
}

std::vector<std::unique_ptr<Iteration>> IterationQueue::take_cancelled() {
  if (!cancelled_.empty()) ++destroying_;
  return std::exchange(cancelled_, {});
}

bool IterationQueue::wants_one_alone() const {
  return !is_empty() && front().large_count &&
         (front().is(State::kWorking) || front().is(State::kAlone));
}

// Whether all older iterations have begun this stage or will not come to it.
bool IterationQueue::is_in_turn(size_t k) const {
  const int stage = iterations_[k]->stage;
  return std::all_of(begin(), begin() + static_cast<int64_t>(k), [&](auto& older) {
    return older->stage > stage || (older->stage == stage && older->call) ||
           older->is(State::kReady) || older->is(State::kFailed);
  });
}

bool IterationQueue::may_start(size_t k, Who who) const {
  const Iteration& it = *iterations_[k];
  const bool gives_out = it.is(State::kWorking) || (it.is(State::kAlone) && !it.running_count);
  if (!gives_out || it.is_cancelled) return false;
  if (it.kind() == StageKind::kDevice) return who == Who::kIssuer && is_in_turn(k);
  if (who != Who::kWorker) return false;
  if (it.kind() != StageKind::kPython) return true;
  if (it.call) return it.call->is_over;
  const Node& node = it.step.plan.node(it.step.plan.stage(it.stage).nodes[0]);
  // Two nodes of sides that differ call one function, which sees the steps in order all the same.
  const bool waits = node.function->is_stateful() || !node.sides.empty();
  return is_in_turn(k) && (k == 0 || !waits);
}

Ticket IterationQueue::next_ticket(Who who) const {
  if (who != Who::kIssuer && wants_one_alone()) {
    const int i = who == Who::kLoneWorker ? front().give_out(TicketState::kLarge) : -1;
    return i < 0 ? Ticket{} : Ticket{&front(), i, releases};
  }
  for (size_t k = 0; k < iterations_.size(); ++k) {
    if (!may_start(k, who)) continue;
    const int i = iterations_[k]->give_out(TicketState::kPending);
    if (i >= 0) return {iterations_[k].get(), i, releases};
  }
  return {};
}

Iteration* IterationQueue::next_to_poll() const {
  for (auto& it : iterations_)
    if (it->is(State::kAwaiting) && it->issued.copied && it->issued.polled_at != polls)
      return it.get();
  return nullptr;
}

}  // namespace stoker
