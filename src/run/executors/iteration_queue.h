// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The open iterations, oldest first, with their tickets, and cancelled ones until they are
// destroyed. Pipelined::mutex_ guards it.
#pragma once
#include <deque>

#include "run/executors/iteration.h"

namespace stoker {

// Who asks for a ticket. A lone worker may make a large sample: Note [Alone] (admission.h).
enum class Who : uint8_t { kWorker, kLoneWorker, kIssuer };

struct Ticket {
  Iteration* iteration = nullptr;
  int number = 0;  // of a kChain stage: the sample
  int64_t releases = 0;  // IterationQueue::releases when it was given out
  explicit operator bool() const { return iteration; }
};

class IterationQueue {
 public:
  bool is_empty() const { return iterations_.empty(); }
  int size() const { return static_cast<int>(iterations_.size()); }
  Iteration& front() const { return *iterations_.front(); }
  Iteration& back() const { return *iterations_.back(); }
  auto begin() const { return iterations_.begin(); }
  auto end() const { return iterations_.end(); }

  void open(std::unique_ptr<Iteration> it);
  std::unique_ptr<Iteration> take_front();
  // Of the iteration that will be opened next.
  int64_t next_number() const { return next_number_; }

  // Gives out the ticket that may start now, of the oldest iteration that has one. The issuer makes
  // kDevice stages, workers all others. kDevice and kPython stages begin in the iterations' order.
  Ticket next_ticket(Who who) const;
  // The oldest iteration whose copies to the host have to be queried.
  Iteration* next_to_poll() const;
  // Whether the oldest has a sample that needs all memory, so that no other may start.
  bool wants_one_alone() const;

  // Cancels an iteration, to be made again later, so that there is room. It was not opened, or is
  // the youngest. An open one is marked, and cancelled when none of its tickets runs.
  void cancel(std::unique_ptr<Iteration> it) { cancelled_.push_back(std::move(it)); }
  void cancel_youngest();
  void end_cancelled();
  // Cancelled iterations are destroyed without the mutex, because their buffers call
  // Pipelined::memory_released(). Before and between these two calls, is_destroying().
  std::vector<std::unique_ptr<Iteration>> take_cancelled();
  void destroyed() { --destroying_; }
  bool is_destroying() const { return destroying_ || !cancelled_.empty(); }

  int64_t polls = 0;  // how often there was reason to query Issued::copied
  int64_t releases = 0;  // how often memory was released

 private:
  bool may_start(size_t k, Who who) const;
  bool is_in_turn(size_t k) const;

  std::deque<std::unique_ptr<Iteration>> iterations_;
  std::vector<std::unique_ptr<Iteration>> cancelled_;
  int destroying_ = 0;  // threads that are destroying cancelled iterations
  int64_t next_number_ = 0;
};

}  // namespace stoker
