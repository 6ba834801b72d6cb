// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Refuses calls of an engine that would disturb another call of it, or wait for themselves.
// Python's lock guards everything here, and a lock of its own where Python has none.
//
// Note [Ctrl-C in a with statement]
// A signal handler, as that of Ctrl-C, could interrupt these functions if they were in Python, so
// that the call would never be forgotten and every later call be refused. No handler runs during
// these functions, nor between them and what the `with` statement encloses.
#include <nanobind/stl/optional.h>
#include <unistd.h>

#include <map>

#include "bindings.h"

namespace stoker::python {

namespace {

using Thread = std::optional<unsigned long>;

class OneCaller {
 public:
  OneCaller() = default;
  OneCaller(const OneCaller&) = delete;
  ~OneCaller() {  // a fork may have copied a call that never returned
    const nb::ft_lock_guard lock(mutex());
    std::erase_if(calls(), [this](const auto& call) { return call.second == this; });
  }

  // Which: the thread that asks sources, or the one that calls the user's functions; they set it.
  template <Thread OneCaller::* Which>
  Thread thread() const {
    const nb::ft_lock_guard lock(mutex());
    return this->*Which;
  }
  template <Thread OneCaller::* Which>
  void set_thread(Thread thread) {
    const nb::ft_lock_guard lock(mutex());
    this->*Which = thread;
  }

  void enter() {
    const nb::ft_lock_guard lock(mutex());
    const unsigned long me = PyThread_get_thread_ident();
    const auto in = calls().find(me);
    OneCaller* const outer = in == calls().end() ? nullptr : in->second;
    if (const char* problem = problem_of(me, outer)) throw StateError(problem);
    process_ = getpid();
    is_called_ = true;
    outer_ = outer;
    calls()[me] = this;
  }

  void exit() {
    const nb::ft_lock_guard lock(mutex());
    const unsigned long me = PyThread_get_thread_ident();
    if (outer_) calls()[me] = outer_;
    else calls().erase(me);
    is_called_ = false;
  }

  Thread source_thread, function_thread;

 private:
  static nb::ft_mutex& mutex() {
    static nb::ft_mutex one;
    return one;
  }
  // The innermost call of each thread.
  static std::map<unsigned long, OneCaller*>& calls() {
    static std::map<unsigned long, OneCaller*> all;
    return all;
  }

  const char* problem_of(unsigned long me, const OneCaller* outer) const {
    if (process_ && process_ != getpid())  // a fork copies calls that never return
      return "this pipeline was built before a fork; build one in the child process instead";
    if (waits_for(me))
      return "a source cannot run, close or restore a pipeline that waits for that source, nor can "
             "a function one that waits for it; do it in the thread that runs the pipeline";
    if (outer == this) return "a signal handler cannot use a pipeline in the midst of a call of it";
    if (is_called_) return "two threads use one pipeline at once; give each its own";
    return nullptr;
  }

  // Whether a call may wait for this thread, by way of any number of pipelines.
  bool waits_for(unsigned long thread) const {
    for (const auto& own : {source_thread, function_thread}) {
      if (!own) continue;
      if (*own == thread) return true;
      const auto next = calls().find(*own);
      if (next != calls().end() && next->second != this && next->second->waits_for(thread))
        return true;
    }
    return false;
  }

  pid_t process_ = 0;  // where the first call was
  bool is_called_ = false;
  OneCaller* outer_ = nullptr;  // what the calling thread is in the midst of besides
};

}  // namespace

void bind_one_caller(nb::module_& m) {
  nb::class_<OneCaller>(
      m, "OneCaller",
      "A context that one thread at a time may enter, and no source that it would wait for.\n\n"
      "``source_thread`` is the thread that calls the sources of the engine, by its identifier,\n"
      "and ``function_thread`` the one that calls functions of the user's; None while there is\n"
      "none. A source may use another pipeline, and so wait for the\n"
      "thread of that pipeline's sources, and so on. Raises ``StateError``.")
      .def(nb::init<>())
      .def_prop_rw("source_thread", &OneCaller::thread<&OneCaller::source_thread>,
                   &OneCaller::set_thread<&OneCaller::source_thread>, nb::arg().none())
      .def_prop_rw("function_thread", &OneCaller::thread<&OneCaller::function_thread>,
                   &OneCaller::set_thread<&OneCaller::function_thread>, nb::arg().none())
      .def("__enter__", &OneCaller::enter)
      .def("__exit__", [](OneCaller& c, const nb::args&) { c.exit(); });
}

}  // namespace stoker::python
