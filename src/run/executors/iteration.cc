// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/iteration.h"

namespace stoker {

void Iteration::begin(int number) {
  stage = number;
  tickets.assign(kind() == StageKind::kChain ? static_cast<size_t>(step.samples.size()) : 1,
                 TicketState::kPending);
  if (kind() == StageKind::kChain && stage > 0)
    for (size_t i = 0; i < tickets.size(); ++i)
      if (!step.samples.is_made[i]) tickets[i] = TicketState::kDone;
  done_count = std::count(tickets.begin(), tickets.end(), TicketState::kDone);
  first_pending = 0;
  if (kind() == StageKind::kChain) made_count = 0;
  issued.is_collected = false;
  call.reset();
}

void Iteration::begin_again(int number, std::span<const int> samples) {
  begin(number);
  tickets.assign(tickets.size(), TicketState::kDone);
  for (int i : samples) tickets[i] = TicketState::kPending;
  done_count = static_cast<int64_t>(tickets.size() - samples.size());
  made_count = step.samples.made_count();
}

int Iteration::give_out(TicketState which) {
  const bool is_large = which == TicketState::kLarge;
  const auto at = std::find(tickets.begin() + (is_large ? 0 : first_pending), tickets.end(), which);
  if (!is_large) first_pending = at - tickets.begin();
  if (at == tickets.end()) return -1;
  *at = is_large ? TicketState::kRunningAlone : TicketState::kRunning;
  ++running_count;
  return static_cast<int>(at - tickets.begin());
}

void Iteration::make(int ticket, SampleMaker& maker, std::vector<SampleFailure>& failures) {
  if (kind() == StageKind::kChain)
    step.samples.is_made[ticket] = maker.make(step, ticket, stage, failures);
  else maker.make_batch(step, stage, call.get(), failures);
}

void Iteration::finish(int ticket) {
  large_count -= std::exchange(tickets[ticket], TicketState::kDone) == TicketState::kRunningAlone;
  --running_count;
  ++done_count;
  if (kind() == StageKind::kChain) made_count += step.samples.is_made[ticket];
}

void Iteration::give_back(int ticket, TicketState which) {
  large_count -= std::exchange(tickets[ticket], which) == TicketState::kRunningAlone;
  --running_count;
  if (which == TicketState::kLarge) ++large_count;
  else first_pending = std::min<int64_t>(first_pending, ticket);
}

}  // namespace stoker
