// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays of other libraries, by the buffer protocol or DLPack, without a copy. All functions
// require Python's lock.
#pragma once
#include <nanobind/nanobind.h>

#include <vector>

#include "base/error.h"
#include "base/view.h"

namespace stoker::python {

namespace nb = nanobind;

// What Python lent for a batch, until this is destroyed.
struct Lent {
  std::vector<Py_buffer> buffers;
  std::vector<nb::object> objects;

  Lent() = default;
  Lent(const Lent&) = delete;
  ~Lent() {
    for (Py_buffer& b : buffers) PyBuffer_Release(&b);
  }
};

// The batch's axis is kept apart, as a View may have no room for it besides the axes of a sample.
struct Array {
  View sample;  // the first one
  int64_t count = 1, stride = 0;
};

// What an object lacks, as "is of type str, not an array".
struct NotAnArray : Error {
  using Error::Error;
};

// Throws NotAnArray, and what Python raises.
Array array_of(nb::handle h, bool is_batch, Lent& lent);

}  // namespace stoker::python
