// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of the module `stoker._core`. They read the registry and never name an operator.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>

#include "lock.h"
#include "op/value.h"
#include "run/chain/chain.h"
#include "run/pipeline.h"

namespace stoker::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_feed(nb::module_& m);
void bind_pipeline(nb::module_& m);

// Python's None, bool, int, float, str and lists of them, NumPy's scalars and arrays included.
// Throws GraphError.
Value to_value(nb::handle h);
nb::object to_python(const Value& v);

// An exception of Python's, thrown by C++ and raised as it is.
struct PyFailure {
  std::shared_ptr<PyObject> exception;
};
// Lets go of what Python holds, in whatever thread.
template <class T>
std::shared_ptr<T> released_with_lock(T* object, void (*release)(T*)) {
  return std::shared_ptr<T>(object, [release](T* o) {
    if (!Py_IsInitialized() || is_shut_out()) return;  // at exit the process gives it back
    const nb::gil_scoped_acquire locked;
    release(o);
  });
}

// Of Python's: it ends without the interpreter's lock, which threads that it joins, and the
// device's work that it waits for, may take.
struct EndsUnlocked {
  std::optional<Unlocked> unlocked;
};
class Pipeline final : private EndsUnlocked, public stoker::Pipeline {
 public:
  using stoker::Pipeline::Pipeline;
  ~Pipeline() { unlocked.emplace(); }  // before the base; the lock comes back behind it
};

// Pipeline's methods that feed it.
void bind_feeding(nb::class_<Pipeline>& pipeline);

nb::dict describe_failure(const SampleFailure& f);

}  // namespace stoker::python
