// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The open iterations, oldest first, and their tickets. Pipelined::mutex_ guards it.
#pragma once
#include <deque>

#include "run/executors/iteration.h"

namespace stoker {

// Who asks for a ticket. A lone worker is one that may make a large sample: Note [Alone]
// (admission.h).
enum class Who : uint8_t { kWorker, kLoneWorker, kIssuer };

struct Ticket {
  Iteration* iteration = nullptr;
  int number = 0;  // of a kChain stage: the sample
  explicit operator bool() const { return iteration; }
};

class Ring {
 public:
  bool is_empty() const { return iterations_.empty(); }
  int size() const { return static_cast<int>(iterations_.size()); }
  Iteration& front() const { return *iterations_.front(); }
  Iteration& back() const { return *iterations_.back(); }
  auto begin() const { return iterations_.begin(); }
  auto end() const { return iterations_.end(); }

  void open(std::unique_ptr<Iteration> it);
  std::unique_ptr<Iteration> take_front();
  std::unique_ptr<Iteration> take_back();
  // The number of the iteration that is to be opened next.
  int64_t next_number() const { return next_number_; }

  // Gives out the ticket that may start now, of the oldest iteration that has one. A worker makes
  // all but kDevice stages, and the thread that talks to the device those. Both kDevice and kPython
  // stages begin in the order of the iterations.
  Ticket next(Who who) const;
  // The oldest iteration whose copies to the host are to be asked for.
  Iteration* next_to_poll() const;
  // Whether the oldest has a sample that needs all memory, so that no other may start.
  bool wants_one_alone() const;

  // How often there was reason to query ForDevice::copied.
  int64_t polls = 0;

 private:
  bool may_start(size_t k, Who who) const;
  bool is_in_turn(size_t k) const;

  std::deque<std::unique_ptr<Iteration>> iterations_;
  int64_t next_number_ = 0;
};

}  // namespace stoker
