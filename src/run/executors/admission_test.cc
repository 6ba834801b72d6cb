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
    for (int n = 0; n < count; ++n) queue_.open(iterations_.make(queue_.next_number()));
  }
  // Worker 0 takes a ticket of the oldest iteration that has one, and finds no room.
  Iteration& starve() {
    const Ticket ticket = admission_.next_ticket(0);
    EXPECT_TRUE(ticket);
    ticket.iteration->give_back(ticket.number, TicketState::kPending);
    admission_.starve(ticket, Starved{{}, 100});
    return *ticket.iteration;
  }
  std::string stuck_message(const HostPool& pool, int64_t batch_size) {
    try {
      std::rethrow_exception(admission_.stuck_error(pool, batch_size));
    } catch (const BudgetError& e) {
      return e.what();
    }
  }
  // Does what Pipelined::destroy_cancelled does.
  size_t destroy_cancelled() {
    const size_t count = queue_.take_cancelled().size();
    if (!count) return 0;
    queue_.destroyed();
    admission_.released();
    return count;
  }

  Iterations iterations_;
  IterationQueue queue_;
  Admission admission_{queue_, 2};
};

TEST_F(AdmissionTest, TheYoungestIsClosedForTheOldestUntilThatIsAlone) {
  open(3);
  EXPECT_EQ(&starve(), &queue_.front());
  EXPECT_TRUE(queue_.front().is(State::kStarved));
  EXPECT_FALSE(admission_.make_room());
  EXPECT_FALSE(admission_.may_open(9)) << "only the oldest";
  EXPECT_EQ(queue_.size(), 2);
  EXPECT_EQ(queue_.next_number(), 2);
  EXPECT_TRUE(queue_.is_destroying());
  EXPECT_EQ(destroy_cancelled(), 1u);
  EXPECT_TRUE(queue_.front().is(State::kWorking));  // there is room, so it tries again
  (void)starve();
  EXPECT_FALSE(admission_.make_room());
  EXPECT_EQ(destroy_cancelled(), 1u);
  (void)starve();
  EXPECT_TRUE(admission_.make_room());
  EXPECT_TRUE(queue_.front().is(State::kAlone));
  EXPECT_FALSE(admission_.is_stuck());
  (void)starve();
  EXPECT_TRUE(queue_.front().is(State::kStuck));
  EXPECT_TRUE(admission_.is_stuck());
  const HostPool pool(1000);
  EXPECT_NE(stuck_message(pool, 2).find("memory_limit to at least"), std::string::npos);
  EXPECT_TRUE(queue_.front().is(State::kAlone));
  EXPECT_TRUE(admission_.next_ticket(0));
  EXPECT_FALSE(admission_.next_ticket(0)) << "one ticket at a time";
}

TEST_F(AdmissionTest, AnIterationGoesWhenNoneOfItsTicketsRuns) {
  open(2);
  const Ticket a = admission_.next_ticket(0), b = admission_.next_ticket(0),
               younger = admission_.next_ticket(1);
  ASSERT_EQ(younger.iteration, &queue_.back());
  a.iteration->give_back(a.number, TicketState::kPending);
  admission_.starve(a, Starved{{}, 100});
  EXPECT_FALSE(admission_.make_room());
  EXPECT_EQ(queue_.size(), 2);
  EXPECT_TRUE(queue_.back().is_cancelled);
  EXPECT_FALSE(admission_.next_ticket(1));
  younger.iteration->finish(younger.number);
  queue_.end_cancelled();
  EXPECT_EQ(queue_.size(), 1);
  EXPECT_EQ(destroy_cancelled(), 1u);
  b.iteration->finish(b.number);
}

TEST_F(AdmissionTest, WhatWasToBeClosedGoesOnWhenTheOldestIsHandedOut) {
  open(2);
  const Ticket a = admission_.next_ticket(0);
  const Ticket b = admission_.next_ticket(0);
  const Ticket younger = admission_.next_ticket(1);
  a.iteration->give_back(a.number, TicketState::kPending);
  admission_.starve(a, Starved{{}, 100});
  (void)admission_.make_room();
  EXPECT_TRUE(queue_.back().is_cancelled);
  b.iteration->finish(b.number);
  (void)admission_.take_oldest();
  EXPECT_FALSE(queue_.front().is_cancelled);
  EXPECT_TRUE(admission_.may_open(9));
  EXPECT_EQ(admission_.next_ticket(1).iteration, younger.iteration);
}

TEST_F(AdmissionTest, MemoryThatCameDuringTheTryIsWorthAnother) {
  open(1);
  const Ticket ticket = admission_.next_ticket(0);
  admission_.released();
  ticket.iteration->give_back(ticket.number, TicketState::kPending);
  admission_.starve(ticket, Starved{{}, 100});
  EXPECT_TRUE(queue_.front().is(State::kWorking));
  EXPECT_FALSE(admission_.make_room());
}

TEST_F(AdmissionTest, AYoungerIterationStarvesAndClosesNone) {
  open(2);
  queue_.front().state = State::kAwaiting;
  EXPECT_EQ(&starve(), &queue_.back());
  EXPECT_FALSE(admission_.make_room());
  EXPECT_EQ(queue_.size(), 2);
  EXPECT_FALSE(admission_.next_ticket(0));
  (void)admission_.take_oldest();
  EXPECT_TRUE(admission_.next_ticket(0));
}

TEST_F(AdmissionTest, StarvingForTheDeviceClosesWhoHoldsItsMemory) {
  queue_.open(iterations_.make(0, State::kWorking, 1));
  queue_.open(iterations_.make(1, State::kWorking, 0));
  const Ticket ticket = queue_.next_ticket(Who::kIssuer);
  ticket.iteration->give_back(ticket.number, TicketState::kPending);
  EXPECT_FALSE(admission_.starve_for_device(ticket, false)) << "nobody else holds any";
  EXPECT_TRUE(queue_.front().is(State::kStarved));
  EXPECT_FALSE(admission_.make_room()) << "that is for memory of the host";
  admission_.released_on_device();
  EXPECT_TRUE(queue_.front().is(State::kWorking));
  queue_.back().step.on_device.values[{0, 0}] = {};
  EXPECT_TRUE(admission_.starve_for_device(ticket, true));
  EXPECT_TRUE(queue_.front().is(State::kWorking)) << "it tries again";
  EXPECT_EQ(queue_.size(), 1);
  EXPECT_EQ(destroy_cancelled(), 1u);
}

TEST_F(AdmissionTest, OneWorksAloneWhenTheOthersHaveTrimmed) {
  open(2);
  const Ticket a = admission_.next_ticket(0), b = admission_.next_ticket(1);
  a.iteration->give_back(a.number, TicketState::kLarge);
  EXPECT_FALSE(admission_.next_ticket(0)) << "worker 1 holds memory";
  b.iteration->finish(b.number);
  EXPECT_TRUE(admission_.must_trim(1));
  EXPECT_FALSE(admission_.next_ticket(0));
  admission_.trimmed(1);
  EXPECT_FALSE(admission_.must_trim(1));
  const Ticket alone = admission_.next_ticket(0);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone.iteration->is_alone(alone.number));
  EXPECT_FALSE(admission_.next_ticket(1));
  alone.iteration->finish(alone.number);
  admission_.trimmed(0);
  EXPECT_EQ(admission_.next_ticket(1).iteration, &queue_.back());
}

TEST_F(AdmissionTest, WhatCannotBeOpenedIsSaid) {
  admission_.begin_opening();
  EXPECT_TRUE(admission_.is_opening());
  EXPECT_FALSE(admission_.may_open(9));
  EXPECT_FALSE(admission_.end_opening(iterations_.make(0), false, false));
  EXPECT_TRUE(admission_.is_stuck());
  EXPECT_EQ(destroy_cancelled(), 1u);
  const HostPool pool(1000);
  EXPECT_NE(stuck_message(pool, 7).find("a batch of up to 7 samples"), std::string::npos);
  admission_.begin_opening();
  EXPECT_TRUE(admission_.end_opening(iterations_.make(0), true, false));
  EXPECT_FALSE(admission_.is_stuck());
  EXPECT_EQ(queue_.size(), 1);
}

TEST_F(AdmissionTest, ASearchForMemoryIsRepeatedWhereThingsChanged) {
  admission_.begin_opening();
  admission_.released();
  EXPECT_TRUE(admission_.end_opening(iterations_.make(0), false, false)) << "memory was released";
  EXPECT_FALSE(admission_.is_stuck());
  open(2);
  admission_.begin_opening();
  queue_.cancel_youngest();
  EXPECT_TRUE(admission_.end_opening(iterations_.make(2), true, false)) << "1 comes before 2";
  EXPECT_EQ(queue_.size(), 1);
  EXPECT_EQ(queue_.next_number(), 1);
  EXPECT_EQ(destroy_cancelled(), 3u);
  admission_.begin_opening();
  EXPECT_FALSE(admission_.end_opening(iterations_.make(1), false, true)) << "it failed";
  EXPECT_FALSE(admission_.is_stuck());
}

}  // namespace
}  // namespace stoker
