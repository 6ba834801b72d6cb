// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A step on its way through the pipelined executor, which guards it.
#pragma once
#include "run/step.h"

namespace stoker {

enum class Ticket : uint8_t { kPending, kRunning, kDone };

struct Iteration {
  Iteration(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
            std::shared_ptr<const FedStep> fed)
      : step(plan, number, std::move(cursors), std::move(fed)), tickets(step.size()) {}
  Step step;
  std::vector<Ticket> tickets;
  int64_t first_pending = 0;  // none before this one
  int running = 0;
  int64_t done = 0;
  bool is_starved = false;  // its tickets wait until memory was released or it is the oldest
  bool is_issuing = false;  // the device stage is at it
  bool is_closing = false;  // to be made again later: no new tickets
  // Where there is a device, by its issuing thread: published, and all of its work enqueued.
  std::optional<Outputs> outputs;
  bool is_issued = false;
  // Sample i is to be made once more.
  void give_back(int i) {
    tickets[i] = Ticket::kPending;
    first_pending = std::min<int64_t>(first_pending, i);
  }
  // Nothing more will happen to its samples.
  bool is_made() const {
    return done == static_cast<int64_t>(tickets.size()) || (step.fatal && !running);
  }
};

}  // namespace stoker
