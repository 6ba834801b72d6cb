// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Who may start what, for all pairs of states and stages.
#include "run/executors/iteration_queue.h"

#include "run/executors/testing.h"

namespace stoker {
namespace {

using State = IterationState;

constexpr State kStates[] = {State::kWorking,  State::kStarved, State::kAlone, State::kStuck,
                             State::kAwaiting, State::kFailed,  State::kReady};

struct Case {
  State state;
  int stage;
  bool is_cancelled;
  bool runs;  // one ticket runs
  enum { kNoCall, kCalls, kCalled } call;  // of a kPython stage

  StageKind kind() const { return kAllKinds[static_cast<size_t>(stage)]; }
  bool is_possible() const { return kind() == StageKind::kPython || call == kNoCall; }
  std::string str() const {
    return "state " + std::to_string(static_cast<int>(state)) + " stage " + std::to_string(stage) +
           (is_cancelled ? " cancelled" : "") + (runs ? " runs" : "") + " call " +
           std::to_string(call);
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const State state : kStates)
    for (int stage = 0; stage < 6; ++stage)
      for (const bool is_cancelled : {false, true})
        for (const bool runs : {false, true})
          for (const auto call : {Case::kNoCall, Case::kCalls, Case::kCalled})
            if (const Case c{state, stage, is_cancelled, runs, call}; c.is_possible())
              all.push_back(c);
  return all;
}

std::unique_ptr<Iteration> make(const Iterations& iterations, int64_t number, const Case& c) {
  std::unique_ptr<Iteration> it = iterations.make(number, c.state, c.stage);
  it->is_cancelled = c.is_cancelled;
  if (c.runs) (void)it->give_out(TicketState::kPending);
  if (c.call != Case::kNoCall) it->call = std::make_shared<UserCall>();
  if (c.call == Case::kCalled) it->call->is_over = true;
  return it;
}

// The rules once more, as a person would say them.
bool gives_tickets(const Case& c) {
  if (c.is_cancelled) return false;
  if (c.runs && c.kind() != StageKind::kChain) return false;  // its only ticket is given out
  return c.state == State::kWorking || (c.state == State::kAlone && !c.runs);
}
bool for_whom(const Case& c, Who who) {
  return (c.kind() == StageKind::kDevice) == (who == Who::kIssuer);
}
bool is_past(const Case& older, const Case& younger) {
  if (older.state == State::kReady || older.state == State::kFailed) return true;
  const bool has_begun = older.stage == younger.stage && older.call != Case::kNoCall;
  return older.stage > younger.stage || has_begun;
}
bool may_start(const std::vector<Case>& all, size_t k, Who who, bool is_stateful) {
  const Case& c = all[k];
  if (!gives_tickets(c) || !for_whom(c, who) || c.call == Case::kCalls) return false;
  const bool begins_call = c.kind() == StageKind::kPython && c.call == Case::kNoCall;
  if (begins_call && is_stateful && k > 0) return false;
  if (!begins_call && c.kind() != StageKind::kDevice) return true;
  return k == 0 || is_past(all[0], c);
}

void walk(bool is_stateful) {
  const Iterations iterations(is_stateful);
  int64_t given = 0;
  for (const Case& older : all_cases())
    for (const Case& younger : all_cases())
      for (const Who who : {Who::kWorker, Who::kIssuer}) {
        IterationQueue queue;
        queue.open(make(iterations, 0, older));
        queue.open(make(iterations, 1, younger));
        const Ticket ticket = queue.next_ticket(who);
        const Iteration* want = nullptr;
        if (may_start({older, younger}, 1, who, is_stateful)) want = &queue.back();
        if (may_start({older, younger}, 0, who, is_stateful)) want = &queue.front();
        ASSERT_EQ(ticket.iteration, want)
            << older.str() << "; " << younger.str() << "; who " << static_cast<int>(who);
        if (!ticket) continue;
        ++given;
        EXPECT_EQ(ticket.iteration->tickets[static_cast<size_t>(ticket.number)],
                  TicketState::kRunning);
      }
  EXPECT_GT(given, 1000);
}

TEST(IterationQueue, SaysWhoMayStartWhatInAllStates) { walk(false); }

TEST(IterationQueue, StatefulFunctionsWaitUntilTheyAreOldest) { walk(true); }

TEST(IterationQueue, ThePlanHasAllKindsOfStages) {
  const Iterations iterations;
  ASSERT_EQ(iterations.plan().stage_count(), static_cast<int>(kAllKinds.size()));
  for (int s = 0; s < iterations.plan().stage_count(); ++s)
    EXPECT_EQ(iterations.plan().stage(s).kind, kAllKinds[static_cast<size_t>(s)]) << s;
  EXPECT_TRUE(iterations.plan().stage(1).is_awaited);
  EXPECT_FALSE(iterations.plan().stage(5).is_awaited);
}

TEST(IterationQueue, ALargeTicketOfTheOldestStopsAllOthers) {
  const Iterations iterations;
  IterationQueue queue;
  queue.open(iterations.make(0));
  queue.open(iterations.make(1));
  const Ticket first = queue.next_ticket(Who::kWorker), second = queue.next_ticket(Who::kWorker);
  EXPECT_EQ(first.number, 0);
  EXPECT_EQ(second.number, 1);
  first.iteration->give_back(0, TicketState::kLarge);
  EXPECT_TRUE(queue.wants_one_alone());
  EXPECT_FALSE(queue.next_ticket(Who::kWorker));
  const Ticket alone = queue.next_ticket(Who::kLoneWorker);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone.iteration->is_alone(alone.number));
  EXPECT_FALSE(queue.next_ticket(Who::kLoneWorker));
  EXPECT_FALSE(queue.next_ticket(Who::kWorker));  // until it is finished
  alone.iteration->finish(alone.number);
  EXPECT_FALSE(queue.wants_one_alone());
  EXPECT_EQ(queue.next_ticket(Who::kWorker).iteration, &queue.back());
  second.iteration->finish(1);
  EXPECT_TRUE(queue.front().is_stage_over());
}

TEST(IterationQueue, ALargeTicketOfAYoungerIterationWaits) {
  const Iterations iterations;
  IterationQueue queue;
  queue.open(iterations.make(0, State::kAwaiting, 2));
  queue.open(iterations.make(1));
  const Ticket ticket = queue.next_ticket(Who::kWorker);
  ticket.iteration->give_back(ticket.number, TicketState::kLarge);
  EXPECT_FALSE(queue.wants_one_alone());
  EXPECT_EQ(queue.next_ticket(Who::kWorker).number, 1);  // the other sample
  EXPECT_FALSE(queue.next_ticket(Who::kWorker));
  (void)queue.take_front();
  EXPECT_TRUE(queue.wants_one_alone());
}

TEST(IterationQueue, AChainIsForTheSamplesThatAreMade) {
  const Iterations iterations;
  std::unique_ptr<Iteration> it = iterations.make(0);
  it->step.samples.is_made = {0, 1};
  it->begin(4);
  EXPECT_EQ(it->give_out(TicketState::kPending), 1);
  EXPECT_EQ(it->give_out(TicketState::kPending), -1);
  it->finish(1);
  EXPECT_TRUE(it->is_stage_over());
  it->begin_again(0, std::vector<int>{0});
  EXPECT_EQ(it->give_out(TicketState::kPending), 0);
  it->give_back(0, TicketState::kPending);
  EXPECT_EQ(it->give_out(TicketState::kPending), 0);
  EXPECT_FALSE(it->is_stage_over());
  it->finish(0);
  EXPECT_TRUE(it->is_stage_over());
}

TEST(IterationQueue, CountsIterationsThatAreMadeAgain) {
  const Iterations iterations;
  IterationQueue queue;
  for (int n = 0; n < 3; ++n) queue.open(iterations.make(n));
  EXPECT_EQ(queue.next_number(), 3);
  queue.cancel_youngest();
  EXPECT_EQ(queue.next_number(), 2);
  EXPECT_TRUE(queue.is_destroying());
  EXPECT_EQ(queue.take_cancelled().at(0)->step.number, 2);
  EXPECT_TRUE(queue.is_destroying());
  queue.destroyed();
  EXPECT_FALSE(queue.is_destroying());
  EXPECT_EQ(queue.take_front()->step.number, 0);
  EXPECT_EQ(queue.next_number(), 2);
}

}  // namespace
}  // namespace stoker
