// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Who waits for memory, which iteration is closed to make room, and who works alone.
// Pipelined::mutex_ guards it.
//
// Note [Memory]
// Fixed slots are acquired when an iteration is opened, others when their shape is known. A ticket
// that finds no room is given back (Starved). If its iteration is not the oldest, the iteration
// waits until memory is released. For the oldest, the youngest iteration is closed and made again
// later, and in the end Pipelined::wait waits for the work that the device still has. So waiting
// ends: if nothing is left to close, the user holds the memory or the budget is too small, and
// wait() says so. The same holds for the device's memory (DeviceFull).
//
// Note [Alone]
// A worker holds at most its share of the scratch memory: Note [What a sample needs] of arena.h. A
// ticket that needs more (BeyondShare) is given back as a large one. When its iteration is the
// oldest, no more tickets are given out, and workers that find none trim. When no other worker
// holds memory, one works with all of it. So a large ticket waits only for tickets that run
// already.
#pragma once
#include "run/executors/ring.h"

namespace stoker {

class Admission {
 public:
  Admission(Ring& ring, int workers) : ring_(ring), holds_(static_cast<size_t>(workers)) {}

  // The ticket that a worker may start now; the worker then holds memory.
  Ticket next(size_t worker);
  // Whether the worker has to give back its memory, and that it did.
  bool must_trim(size_t worker) const { return holds_[worker] && ring_.wants_one_alone(); }
  void trimmed(size_t worker) { holds_[worker] = false; }

  // Whether no iteration may be opened behind the oldest, until that was handed out.
  bool opens_only_oldest() const { return is_tight_ && !ring_.is_empty(); }
  // The oldest was handed out: the next one may try again, and nothing is to be closed any more.
  void next_oldest();

  // How often memory was released.
  int64_t rooms() const { return rooms_; }
  // A ticket found no room. `rooms`: rooms() when it began. Memory that came meanwhile is worth
  // another try. `why`: not for the device's memory.
  void starve(Iteration& it, int64_t rooms, std::optional<Starved> why = std::nullopt);
  // Memory was released: those that starve try again. Returns whether there are any.
  bool released();
  // The device's memory may have been released.
  void released_on_device();
  // Makes room for the oldest iteration, if it starves for memory of the host: closes the youngest
  // one, or lets the oldest try again with one ticket at a time; then it returns true.
  bool make_room();
  // The same for the device's memory. Returns false where no other iteration holds any.
  bool make_device_room();
  // The oldest could not be opened, for so many bytes; 0: it was.
  void set_unopened(size_t bytes) { unopened_ = bytes; }
  // Whether the user has to make room, and for what. Another try follows.
  bool is_stuck() const;
  std::exception_ptr stuck_error(const HostPool& pool, int64_t batch_size) const;
  bool try_again();

  // Iterations that are to be made again are destroyed without the mutex, as their buffers then
  // call released(). take_dead() and buried() come before and after that.
  void bury(std::unique_ptr<Iteration> it) { graveyard_.push_back(std::move(it)); }
  void close_what_is_closing();
  std::vector<std::unique_ptr<Iteration>> take_dead();
  void buried();
  bool is_burying() const { return burying_ || !graveyard_.empty(); }
  // Says that a thread seeks memory for another iteration, which it may then release.
  void set_opening(bool is_opening) { is_opening_ = is_opening; }
  bool is_opening() const { return is_opening_; }

 private:
  void close_youngest();

  Ring& ring_;
  std::vector<bool> holds_;  // by worker: it holds memory for a sample
  std::vector<std::unique_ptr<Iteration>> graveyard_;
  int burying_ = 0;  // threads that are destroying closed iterations
  int64_t rooms_ = 0;
  size_t unopened_ = 0;
  Starved starved_;  // the latest
  bool is_tight_ = false;
  bool is_opening_ = false;
};

}  // namespace stoker
