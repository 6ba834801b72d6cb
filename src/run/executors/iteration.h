// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A step on its way through an executor. In the pipelined one, Pipelined::mutex_ guards it, but
// whoever has one of its tickets uses the step and `issued` without the mutex.
#pragma once
#include "run/device/device_stage.h"
#include "run/step/sample_maker.h"
#include "run/step/variants.h"

namespace stoker {

// Note [Life of an iteration]
//
//   opened      Pipelined::open_iterations, as far as Admission finds memory for it
//   scheduled   IterationQueue::next_ticket gives its tickets to workers and to the issuer
//   advanced    Pipelined::advance begins its next stage behind the last ticket of one
//   handed out  Pipelined::take_step takes the oldest; Step::publish and join_variants make its
//               batches
//
// Where memory is short, the youngest is cancelled (IterationQueue::cancel_youngest): it gives back
// what it has, and is opened again from its beginning when there is room.

// IterationQueue::next_ticket tells what may start in each of these.
enum class IterationState : uint8_t {
  kWorking,  // gives out the tickets of its stage
  // A ticket found no memory. None is given out until some is released or this is the oldest.
  kStarved,
  kAlone,  // the oldest starved with nothing left to cancel: gives out one ticket at a time
  kStuck,  // the oldest found no memory though alone: the user has to make room
  kAwaiting,  // its stage begins when the device's copies are on the host
  kFailed,  // an error ended it, to be raised when none of its tickets runs
  kReady,  // all is made, and enqueued for the device
};

// A ticket is a piece of a stage: one sample of a kChain stage, all of another stage.
enum class TicketState : uint8_t {
  kPending,
  kLarge,  // to be made alone: Note [Alone] (admission.h)
  kRunning,
  kRunningAlone,
  kDone,
};

struct Iteration {
  Iteration(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
            const std::shared_ptr<const FedStep>& fed, const ExecutorOptions& options)
      : step(plan, number, std::move(cursors), fed, options) {
    begin(0);
  }

  Step step;
  IterationState state = IterationState::kWorking;
  int stage = 0;
  // It has to make room and be made again later. It gives out no tickets, and goes when none runs.
  bool is_cancelled = false;
  std::vector<TicketState> tickets;  // of this stage
  int64_t first_pending = 0;  // no ticket before this one is pending
  int running_count = 0;
  int large_count = 0;  // tickets to be made alone, or being made so
  int64_t done_count = 0;
  int64_t made_count = 0;  // how many samples the latest chain has made so far
  Issued issued;
  // The function that its kPython stage calls; null before its turn.
  std::shared_ptr<UserCall> call;
  std::exception_ptr fatal;  // why it failed

  StageKind kind() const { return step.plan.stage(stage).kind; }
  bool is(IterationState s) const { return state == s; }
  bool is_alone(int ticket) const { return tickets[ticket] == TicketState::kRunningAlone; }
  bool is_over() const {
    return is(IterationState::kReady) || (is(IterationState::kFailed) && !running_count);
  }
  bool is_stage_over() const { return done_count == static_cast<int64_t>(tickets.size()); }

  void fail(const std::exception_ptr& why) {
    if (!fatal) fatal = why;
    state = IterationState::kFailed;
  }
  // Begins a stage for the samples that are made so far, or the first one for all.
  void begin(int number);
  void begin_again(int number, std::span<const int> samples);
  // Gives out the first ticket that is pending, or the first large one; -1 when there is none.
  int give_out(TicketState which);
  void finish(int ticket);
  // Requires: no kDevice stage; the call of a kPython stage is over.
  void make(int ticket, SampleMaker& maker, std::vector<SampleFailure>& failures);
  // Requires: all is made.
  Outputs take_outputs(const std::shared_ptr<const Plan>& plan, HostPool& pool) {
    Outputs out = issued.outputs ? std::move(*issued.outputs) : step.publish(plan, pool);
    join_variants(*plan, out);
    return out;
  }
  // The ticket found no room and has to be tried again.
  void give_back(int ticket, TicketState which);
};

}  // namespace stoker
