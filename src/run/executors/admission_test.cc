// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/admission.h"

#include "run/executors/testing.h"

namespace stoker {
namespace {

using State = IterationState;

class AdmissionTest : public testing::Test {
 protected:
  void open(int count) {
    for (int n = 0; n < count; ++n) ring_.open(iterations_.make(ring_.next_number()));
  }
  // Worker 0 takes a ticket of the oldest iteration that has one, and finds no room.
  Iteration& starve() {
    const int64_t rooms = admission_.rooms();
    const Ticket ticket = admission_.next(0);
    EXPECT_TRUE(ticket);
    ticket.iteration->give_back(ticket.number, TicketState::kPending);
    admission_.starve(*ticket.iteration, rooms, Starved{{}, 100});
    return *ticket.iteration;
  }
  std::string stuck_message(const HostPool& pool, int64_t batch_size) const {
    try {
      std::rethrow_exception(admission_.stuck_error(pool, batch_size));
    } catch (const BudgetError& e) {
      return e.what();
    }
  }
  // Destroys what was closed, as Pipelined::bury does.
  size_t bury() {
    const size_t count = admission_.take_dead().size();
    if (count) admission_.buried();
    return count;
  }

  Iterations iterations_;
  Ring ring_;
  Admission admission_{ring_, 2};
};

TEST_F(AdmissionTest, TheYoungestIsClosedForTheOldestUntilThatIsAlone) {
  open(3);
  EXPECT_EQ(&starve(), &ring_.front());
  EXPECT_TRUE(ring_.front().is(State::kStarved));
  EXPECT_FALSE(admission_.make_room());
  EXPECT_TRUE(admission_.opens_only_oldest());
  EXPECT_EQ(ring_.size(), 2);
  EXPECT_EQ(ring_.next_number(), 2);
  EXPECT_TRUE(admission_.is_burying());
  EXPECT_EQ(bury(), 1u);
  EXPECT_TRUE(ring_.front().is(State::kWorking));  // there is room, so it tries again
  (void)starve();
  EXPECT_FALSE(admission_.make_room());
  EXPECT_EQ(bury(), 1u);
  (void)starve();
  EXPECT_TRUE(admission_.make_room());
  EXPECT_TRUE(ring_.front().is(State::kAlone));
  EXPECT_FALSE(admission_.is_stuck());
  (void)starve();
  EXPECT_TRUE(ring_.front().is(State::kStuck));
  EXPECT_TRUE(admission_.is_stuck());
  const HostPool pool(1000);
  EXPECT_NE(stuck_message(pool, 2).find("memory_limit to at least"), std::string::npos);
  admission_.try_again();
  EXPECT_TRUE(ring_.front().is(State::kAlone));
  EXPECT_TRUE(admission_.next(0));
  EXPECT_FALSE(admission_.next(0)) << "one ticket at a time";
}

TEST_F(AdmissionTest, AnIterationGoesWhenNoneOfItsTicketsRuns) {
  open(2);
  const Ticket a = admission_.next(0), b = admission_.next(0), younger = admission_.next(1);
  ASSERT_EQ(younger.iteration, &ring_.back());
  a.iteration->give_back(a.number, TicketState::kPending);
  admission_.starve(*a.iteration, admission_.rooms(), Starved{{}, 100});
  EXPECT_FALSE(admission_.make_room());
  EXPECT_EQ(ring_.size(), 2);
  EXPECT_TRUE(ring_.back().is_closing);
  EXPECT_FALSE(admission_.next(1));
  younger.iteration->finish(younger.number);
  admission_.close_what_is_closing();
  EXPECT_EQ(ring_.size(), 1);
  EXPECT_EQ(bury(), 1u);
  b.iteration->finish(b.number);
}

TEST_F(AdmissionTest, WhatWasToBeClosedGoesOnWhenTheOldestIsHandedOut) {
  open(2);
  const Ticket a = admission_.next(0);
  const Ticket b = admission_.next(0);
  const Ticket younger = admission_.next(1);
  a.iteration->give_back(a.number, TicketState::kPending);
  admission_.starve(*a.iteration, admission_.rooms(), Starved{{}, 100});
  (void)admission_.make_room();
  EXPECT_TRUE(ring_.back().is_closing);
  b.iteration->finish(b.number);
  (void)ring_.take_front();
  admission_.next_oldest();
  EXPECT_FALSE(ring_.front().is_closing);
  EXPECT_FALSE(admission_.opens_only_oldest());
  EXPECT_EQ(admission_.next(1).iteration, younger.iteration);
}

TEST_F(AdmissionTest, MemoryThatCameDuringTheTryIsWorthAnother) {
  open(1);
  const int64_t rooms = admission_.rooms();
  const Ticket ticket = admission_.next(0);
  admission_.released();
  ticket.iteration->give_back(ticket.number, TicketState::kPending);
  admission_.starve(*ticket.iteration, rooms, Starved{{}, 100});
  EXPECT_TRUE(ring_.front().is(State::kWorking));
  EXPECT_FALSE(admission_.make_room());
}

TEST_F(AdmissionTest, AYoungerIterationStarvesAndClosesNone) {
  open(2);
  ring_.front().state = State::kAwaiting;
  EXPECT_EQ(&starve(), &ring_.back());
  EXPECT_FALSE(admission_.make_room());
  EXPECT_EQ(ring_.size(), 2);
  EXPECT_FALSE(admission_.next(0));
  (void)ring_.take_front();
  admission_.next_oldest();
  EXPECT_TRUE(admission_.next(0));
}

TEST_F(AdmissionTest, StarvingForTheDeviceClosesWhoHoldsItsMemory) {
  ring_.open(iterations_.make(0, State::kWorking, 1));
  ring_.open(iterations_.make(1, State::kWorking, 0));
  admission_.starve(ring_.front(), admission_.rooms());
  EXPECT_TRUE(ring_.front().is(State::kStarved));
  EXPECT_FALSE(admission_.make_room()) << "that is for memory of the host";
  EXPECT_FALSE(admission_.make_device_room());
  admission_.released_on_device();
  EXPECT_TRUE(ring_.front().is(State::kWorking));
  ring_.back().step.on_device[{0, 0}] = {};
  EXPECT_TRUE(admission_.make_device_room());
  EXPECT_EQ(ring_.size(), 1);
  EXPECT_EQ(bury(), 1u);
}

TEST_F(AdmissionTest, OneWorksAloneWhenTheOthersHaveTrimmed) {
  open(2);
  const Ticket a = admission_.next(0), b = admission_.next(1);
  a.iteration->give_back(a.number, TicketState::kLarge);
  EXPECT_FALSE(admission_.next(0)) << "worker 1 holds memory";
  b.iteration->finish(b.number);
  EXPECT_TRUE(admission_.must_trim(1));
  EXPECT_FALSE(admission_.next(0));
  admission_.trimmed(1);
  EXPECT_FALSE(admission_.must_trim(1));
  const Ticket alone = admission_.next(0);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone.iteration->is_alone(alone.number));
  EXPECT_FALSE(admission_.next(1));
  alone.iteration->finish(alone.number);
  admission_.trimmed(0);
  EXPECT_EQ(admission_.next(1).iteration, &ring_.back());
}

TEST_F(AdmissionTest, WhatCannotBeOpenedIsSaid) {
  EXPECT_FALSE(admission_.is_stuck());
  admission_.set_unopened(5000);
  EXPECT_TRUE(admission_.is_stuck());
  const HostPool pool(1000);
  EXPECT_NE(stuck_message(pool, 7).find("a batch of up to 7 samples"), std::string::npos);
  admission_.set_unopened(0);
  EXPECT_FALSE(admission_.is_stuck());
}

}  // namespace
}  // namespace stoker
