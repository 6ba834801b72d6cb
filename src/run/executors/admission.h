// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Who waits for memory, which iteration is cancelled to make room, and who works alone.
// Pipelined::mutex_ guards it.
//
// Note [Memory]
// Fixed slots are acquired when an iteration is opened, others when their shape is known. A ticket
// that finds no room is given back (Starved), and its iteration waits until memory is released. For
// the oldest, the youngest iteration is cancelled, to be made again later, and in the end
// Pipelined::wait waits for the work that the device still has. If nothing is left to cancel, the
// user holds the memory or the budget is too small, and wait() says so. So waiting ends. The same
// holds for the device's memory (DeviceFull).
//
// Note [Alone]
// A worker holds at most its share of the scratch memory: Note [What a sample needs]
// (memory/arena.h). A ticket that needs more (BeyondShare) is given back as a large one. When its
// iteration is the oldest, no more tickets are given out, and workers that find none trim. When no
// other worker holds memory, one works with all of it. So a large ticket waits only for tickets
// that already run.
#pragma once
#include "run/executors/iteration_queue.h"

namespace stoker {

class Admission {
 public:
  Admission(IterationQueue& queue, int workers)
      : queue_(queue), holds_(static_cast<size_t>(workers)) {}

  // The ticket that a worker may start now. The worker then holds memory.
  Ticket next_ticket(size_t worker);
  // Whether the worker has to give back its memory.
  bool must_trim(size_t worker) const { return holds_[worker] && queue_.wants_one_alone(); }
  void trimmed(size_t worker) { holds_[worker] = false; }

  // A ticket found no room. It tries again if memory was released since it was given out.
  void starve(const Ticket& ticket, const Starved& why) { wait_for_memory(ticket, &why); }
  // The same for the device's memory. For the oldest, the youngest is cancelled if one holds any.
  // Returns whether there may be room then. `tries_again`: the iteration does not wait.
  bool starve_for_device(const Ticket& ticket, bool tries_again);
  // A ticket was given back or is finished. If the oldest starves for host memory, cancels the
  // youngest for it, or lets it try again with one ticket at a time, and returns true.
  bool make_room();
  // Memory was released: those that starve try again. Returns whether there are any.
  bool released();
  void released_on_device();

  // Whether another iteration may be opened if `depth` of them may be open.
  bool may_open(int depth) const;
  // A thread seeks memory for the next iteration, without the mutex. At the end the iteration is
  // opened, or cancelled if it found none or is no longer the next. Returns whether another try
  // makes sense: it found memory, or some was released meanwhile.
  void begin_opening() { opening_since_ = queue_.releases; }
  bool end_opening(std::unique_ptr<Iteration> it, bool has_memory, bool has_failed);
  bool is_opening() const { return opening_since_.has_value(); }
  // Afterwards the next oldest may try again, and nothing has to be cancelled any more.
  std::unique_ptr<Iteration> take_oldest();

  // Whether the user has to make room, and for what. Another try follows.
  bool is_stuck() const;
  std::exception_ptr stuck_error(const HostPool& pool, int64_t batch_size);

 private:
  // `why`: null for the device's memory.
  void wait_for_memory(const Ticket& ticket, const Starved* why);
  // Whether no iteration may be opened behind the oldest until that was handed out.
  bool opens_only_oldest() const { return is_tight_ && !queue_.is_empty(); }
  bool try_again();

  IterationQueue& queue_;
  std::vector<bool> holds_;  // by worker: it holds memory for a sample
  std::optional<int64_t> opening_since_;  // IterationQueue::releases when it began
  size_t unopened_ = 0;  // bytes for which the oldest could not be opened; 0: it was
  Starved starved_;  // the latest
  bool is_tight_ = false;
};

}  // namespace stoker
