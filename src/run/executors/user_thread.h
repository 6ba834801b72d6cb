// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The pipeline's own thread for functions of the user's.
//
// Note [User code]
// All functions of a pipeline are called on one thread of its own, so the interpreter is entered
// once a batch and no worker waits for it. A call owns its inputs and its results (UserCall). So a
// function that never returns is not joined: the executor ends, and the thread ends if it ever can.
#pragma once
#include <deque>
#include <thread>

#include "run/bell.h"
#include "run/step/user_call.h"

namespace stoker {

class UserThread {
 public:
  // `over` is called on the thread after each call, but never after the end of this object.
  explicit UserThread(std::function<void()> over);
  // Drops the calls that did not begin, and waits a short while for one that runs.
  ~UserThread();
  UserThread(const UserThread&) = delete;
  UserThread& operator=(const UserThread&) = delete;

  // Makes the call after those that were begun before, and sets UserCall::is_over.
  void begin(std::shared_ptr<UserCall> call);

 private:
  struct State {
    Mutex mutex;  // nothing is called under it
    ConditionVariable changed;
    std::deque<std::shared_ptr<UserCall>> calls STOKER_GUARDED_BY(mutex);
    bool is_to_end STOKER_GUARDED_BY(mutex) = false;
    bool has_ended STOKER_GUARDED_BY(mutex) = false;
  };
  static void run_calls(State& state, Bell& over);

  const std::shared_ptr<State> state_ = std::make_shared<State>();
  const std::shared_ptr<Bell> over_;
  std::thread thread_;
};

// Makes the call on this thread, and sets all of its results except is_over.
void make_call(UserCall& call);

}  // namespace stoker
