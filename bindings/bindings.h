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
void bind_calls(nb::module_& m);
void bind_codecs(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_faults(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_feed(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_index(nb::module_& m);
void bind_jpeg(nb::module_& m);
void bind_one_caller(nb::module_& m);
void bind_pipeline(nb::module_& m);
void bind_registry(nb::module_& m);

// Takes None, bool, int, float, str, lists of these, and NumPy's scalars and arrays. Throws
// GraphError for anything else.
Value to_value(nb::handle h);
nb::object to_python(const Value& v);
// Throws GraphError that names the argument.
Arguments to_arguments(const nb::dict& d);
nb::dict describe(const ArgumentInfo& a);

// A Python exception that passes through C++ unchanged.
struct PyFailure {
  std::shared_ptr<PyObject> exception;
};
// A shared pointer that holds Python's lock while it releases its object, in whatever thread.
template <class T>
std::shared_ptr<T> released_with_lock(T* object, void (*release)(T*)) {
  return std::shared_ptr<T>(object, [release](T* o) {
    if (!may_use_python()) return;  // the process is ending and frees it
    const Locked locked;
    release(o);
  });
}

// The pipeline that Python holds. Its base is destroyed without Python's lock, as threads that it
// joins and device work that it waits for may need the lock.
struct EndsUnlocked {
  std::optional<Unlocked> unlocked;
};
class Pipeline final : private EndsUnlocked, public stoker::Pipeline {
 public:
  using stoker::Pipeline::Pipeline;
  ~Pipeline() { unlocked.emplace(); }  // the lock comes back when the base is destroyed
};

void bind_feeding(nb::class_<Pipeline>& pipeline);

nb::dict describe_failure(const SampleFailure& f);

}  // namespace stoker::python
