// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a thread of the engine holds while it calls a function of the user's.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "bindings.h"

namespace stoker::python {

// Note [Functions at the exit]
// While the interpreter ends, Python before 3.14 ends any thread but the main one that takes its
// lock. Unwinding the thread's stack crashes in functions that nanobind bound, which take that for
// an exception, and frees objects without the lock. So the exit first waits until no call is
// running, and lets none begin. Threads of longer calls are ended by Python all the same; they are
// safe where they wait for the lock in or_sleep().
class RunningCall {
 public:
  RunningCall() {
    ++count_;
    if (!is_exit_) return;
    --count_;
    throw SampleError("the function is not called any more, as Python is about to exit");
  }
  ~RunningCall() { --count_; }
  RunningCall(const RunningCall&) = delete;

  // Lets no more begin, and waits briefly for those that run. Calls that last longer keep their
  // objects for ever.
  static void end_all() {
    is_exit_ = true;
    const Unlocked unlocked;
    for (int i = 0; i < 1000 && count_ > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (count_ > 0) nb::set_leak_warnings(false);
  }
  // In a forked process, which has no other thread.
  static void forget_all() {
    if (count_.exchange(0) > 0) nb::set_leak_warnings(false);
  }

 private:
  static inline std::atomic<bool> is_exit_ = false;
  static inline std::atomic<int> count_ = 0;
};

// Python's state of this thread. It lives as long as the thread, so that thread-local values last
// from call to call.
class KnownThread {
 public:
  KnownThread() : is_new_(!PyGILState_GetThisThreadState()) {
    if (!is_new_) return;
    or_sleep([] { return PyGILState_Ensure(); });
    PyEval_SaveThread();
  }
  ~KnownThread() {
    if (!is_new_ || !may_use_python()) return;
    or_sleep([] { return PyGILState_Ensure(); });
    PyGILState_Release(PyGILState_LOCKED);
    PyGILState_Release(PyGILState_UNLOCKED);
  }
  KnownThread(const KnownThread&) = delete;

 private:
  const bool is_new_;
};

}  // namespace stoker::python
