// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes and releases Python's lock, also while the interpreter ends.
#pragma once
#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace stoker::python {

// Whether the interpreter is ending in another thread. This thread must not use Python then.
inline bool is_shut_out() {
#if PY_VERSION_HEX >= 0x030D0000
  const bool is_ending = Py_IsFinalizing() != 0;
#else
  const bool is_ending = _Py_IsFinalizing() != 0;
#endif
  return is_ending && gettid() != getpid();
}

// The main thread may use Python while the interpreter ends, and no thread when that is over.
inline bool may_use_python() {
  return !is_shut_out() && (Py_IsInitialized() || PyGILState_GetThisThreadState());
}

// Calls `f`, which takes Python's lock. If the interpreter ends meanwhile, this thread sleeps until
// the process is gone. Python before 3.14 would otherwise end it in the midst of C++ code, which
// aborts the process.
template <class F>
auto or_sleep(const F& f) {
  while (is_shut_out()) pause();
  try {
    return f();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

class Locked {
 public:
  Locked() : state_(or_sleep([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const PyGILState_STATE state_;
};

// Lets other threads use Python while this lives.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { take(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  template <class F>
  auto locked(F f) {
    take();
    auto result = f();
    state_ = PyEval_SaveThread();
    return result;
  }

 private:
  void take() {
    or_sleep([this] { PyEval_RestoreThread(state_); });
  }
  PyThreadState* state_;
};

}  // namespace stoker::python
