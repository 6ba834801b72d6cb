// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of the module `stoker._core`. They read the registry and never name an operator.
#pragma once
#include <nanobind/nanobind.h>

#include "op/value.h"
#include "run/chain.h"

namespace stoker::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_pipeline(nb::module_& m);

// Python's None, bool, int, float, str and lists of them, NumPy's scalars and arrays included. Throws GraphError.
Value to_value(nb::handle h);
nb::object to_python(const Value& v);

nb::dict describe_failure(const SampleFailure& f);

}  // namespace stoker::python
