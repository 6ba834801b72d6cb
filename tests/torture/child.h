// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Trials in a process of their own that is watched, as it may crash, hang or take too much memory.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "run/examine.h"

namespace stoker::torture {

struct Limits {
  double seconds = 60;  // for one way to run a trial; generous, as machines are busy
  size_t bytes = size_t{3} << 30;  // of resident memory; sanitizers need several times as much
};

// What a child shows its parent, in memory that both have.
struct Board {
  std::atomic<int64_t> trial{-1};  // at work now; -1: none
  std::atomic<int64_t> done{0};  // trials without a complaint
  std::atomic<int64_t> begun_ns{0};  // when the present way began
  std::atomic<bool> stop{false};  // the parent asks to end after this trial
  Wrong wrong = Wrong::kNothing;
  char text[1 << 14] = {};

  void begin_way();
  void complain(const Complaint& complaint);
};

// Requires: this process has one thread.
class Child {
 public:
  // Runs `work` in the child. Its error output is kept, and shown if it crashes.
  Child(const std::function<void(Board&)>& work, const Limits& limits);
  ~Child();  // kills it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Board& board() { return *board_; }
  // What was wrong, once the child has ended; kills it where it is beyond its limits.
  std::optional<Complaint> poll();
  Complaint wait();

 private:
  Complaint crash(const std::string& how) const;
  std::optional<Complaint> beyond_limits() const;

  const Limits limits_;
  Board* board_;
  int errors_;  // a file in memory
  pid_t pid_;
};

Complaint examine_apart(const Trial& trial, const Limits& limits);

}  // namespace stoker::torture
