// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A step on its way through the pipelined executor. Pipelined::mutex_ guards it, with two
// exceptions. A worker makes its ticket's sample without the mutex. While `is_issuing`, the issuing
// thread uses the step and its own members without it. Meanwhile nobody changes `round`.
#pragma once
#include <algorithm>

#include "run/step/step.h"

namespace stoker {

// A ticket is one sample of one iteration: work that any worker thread may take.
enum class TicketState : uint8_t {
  kPending,
  kLarge,  // pending until a worker may work alone: Note [Alone] of pipelined.h
  kRunning,
  kDone,
};

struct Iteration {
  Iteration(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
            std::shared_ptr<const FedStep> fed, const ExecutorOptions& options)
      : step(plan, number, std::move(cursors), std::move(fed), options), tickets(step.size()) {}
  Step step;
  int round = 0;
  std::vector<TicketState> tickets;  // of this round, by sample
  int64_t first_pending = 0;  // no ticket before this one is pending
  int running_count = 0;
  int large_count = 0;
  int64_t done_count = 0;
  int64_t made_count = 0;  // how many of the done tickets made their sample
  bool is_starved = false;  // its tickets wait until memory is released or it becomes the oldest
  bool is_alone = false;  // its tickets run one at a time, with all memory for them
  bool is_issuing = false;  // the issuing thread works on it
  bool is_closing = false;  // it is to be made again later, so it gives out no tickets

  // These are used only with a device, and are its issuing thread's own:
  bool is_collected = false;  // this round's pictures are enqueued and its slots are batches
  // Set when all of the round is enqueued. The event comes when the next round's values are on the
  // host.
  std::unique_ptr<Event> copies_ready;
  int64_t polled_at = 0;  // Pipelined::polls_ when copies_ready was last queried
  std::optional<Outputs> outputs;  // set when the step was published, for take()

  bool is_issued = false;  // all of its work for the device is enqueued

  // Gives out the first ticket that is pending, or the first large one. Returns its sample; -1 when
  // there is none.
  int give_out(TicketState pending) {
    const bool is_large = pending == TicketState::kLarge;
    const auto at =
        std::find(tickets.begin() + (is_large ? 0 : first_pending), tickets.end(), pending);
    if (!is_large) first_pending = at - tickets.begin();
    if (at == tickets.end()) return -1;
    large_count -= is_large;
    *at = TicketState::kRunning;
    ++running_count;
    return static_cast<int>(at - tickets.begin());
  }
  // Sample i is to be made once more: its ticket found no room, or the device refused its picture.
  void give_back(int i, TicketState pending = TicketState::kPending) {
    if (std::exchange(tickets[i], pending) == TicketState::kDone) --done_count, --made_count;
    if (pending == TicketState::kLarge) ++large_count;
    else first_pending = std::min<int64_t>(first_pending, i);
  }
  // Whether nothing more will happen to its samples in this round.
  bool is_round_over() const {
    return done_count == static_cast<int64_t>(tickets.size()) || (step.fatal && !running_count);
  }
  // Begins a round for the samples that are made so far, or the first round for all samples.
  // Requires: copies_ready is null.
  void begin_round(int number) {
    round = number;
    first_pending = done_count = made_count = large_count = 0;
    is_collected = false;
    for (size_t i = 0; i < tickets.size(); ++i) {
      const bool takes_part = round == 0 || step.is_made[i];
      tickets[i] = takes_part ? TicketState::kPending : TicketState::kDone;
      done_count += !takes_part;
    }
  }
};

}  // namespace stoker
