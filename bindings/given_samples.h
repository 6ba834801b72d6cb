// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The samples that are given to a function of the user's. All functions require Python's lock.
#pragma once
#include "bindings.h"
#include "op/user_function.h"

namespace stoker::python {

// What is needed of NumPy, looked up once.
struct NumPy {
  nb::object array;  // the type
  nb::object dtypes[static_cast<int>(DType::kNone) + 1];
};

const NumPy& numpy();

// NumPy arrays on the engine's memory, which cannot be written into.
nb::list arrays_of(const HostBatch& batch);
// Tensors in memory of their own, which may be written into.
nb::list tensors_of(const HostBatch& batch);
// Whether nobody but its `holders` can write into the memory of a NumPy array.
bool is_ours(nb::handle array, Py_ssize_t holders);

void bind_given_samples(nb::module_& m);

}  // namespace stoker::python
