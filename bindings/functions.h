// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of the user's in Python, as the engine calls them.
//
// Note [Functions in Python]
// The engine holds a function weakly: Python objects may lead from the function to the pipeline,
// and a strong reference in C++ would close a circle that Python's collector cannot see.
//
// Python's lock is taken once for a batch, on the thread for user code. Workers copy what was
// returned while that thread goes on, and only note that it is no longer needed: the next call
// releases it. What others could still write into is copied before the call ends.
#pragma once
#include <optional>

#include "bindings.h"
#include "op/user_function.h"

namespace stoker::python {

class PyFunction;

// Requires Python's lock.
struct FunctionHandle {
  std::shared_ptr<PyFunction> function;
};

std::shared_ptr<UserFunction> user_function(const FunctionHandle& handle);
// Calls the function, and gives an int32 for each sample in place of what it returned.
std::shared_ptr<UserFunction> number_function(const FunctionHandle& handle);

}  // namespace stoker::python
