// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A step on its way through the pipelined executor, which guards it.
#pragma once
#include "run/step/step.h"

namespace stoker {

enum class Ticket : uint8_t { kPending, kRunning, kDone };

// A step while it is made, with its tickets.
struct Iteration {
  Iteration(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
            std::shared_ptr<const FedStep> fed, OnError on_error)
      : step(plan, number, std::move(cursors), std::move(fed), on_error), tickets(step.size()) {}
  Step step;
  int round = 0;
  std::vector<Ticket> tickets;  // of this round
  int64_t first_pending = 0;  // none before this one
  int running_count = 0;
  int64_t done_count = 0;
  int64_t made_count = 0;  // of the tickets done, those that made their sample
  bool is_starved = false;  // its tickets wait until memory was released or it is the oldest
  bool is_alone = false;  // one ticket at a time, as all of memory is for it
  bool is_issuing = false;  // the device stage is at it
  bool is_closing = false;  // to be made again later: no new tickets

  // Where there is a device, by its issuing thread:
  bool is_collected = false;  // the pictures of this round are enqueued, its slots are batches
  // All of the round is enqueued; behind this, what the next one looks at is on the host.
  std::unique_ptr<Event> copies_ready;
  int64_t polled_at = 0;  // Pipelined::polls_ when that was asked for last
  std::optional<Outputs> outputs;  // published
  bool is_issued = false;  // all of its work is enqueued

  // Sample i is to be made once more: its ticket found no room, or what it made is of no use.
  void give_back(int i) {
    if (std::exchange(tickets[i], Ticket::kPending) == Ticket::kDone) --done_count, --made_count;
    first_pending = std::min<int64_t>(first_pending, i);
  }
  // Nothing more will happen to its samples in this round.
  bool is_round_over() const {
    return done_count == static_cast<int64_t>(tickets.size()) || (step.fatal && !running_count);
  }
  // For the samples that are made so far; in the first round for all. Requires: copies_ready is
  // null.
  void begin_round(int number) {
    round = number;
    first_pending = done_count = made_count = 0;
    is_collected = false;
    for (size_t i = 0; i < tickets.size(); ++i) {
      const bool takes_part = round == 0 || step.is_made[i];
      tickets[i] = takes_part ? Ticket::kPending : Ticket::kDone;
      done_count += !takes_part;
    }
  }
};

}  // namespace stoker
