// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The errors that end a call. Mirrored one to one in Python (stoker.errors). Messages name what was
// expected and what came.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace stoker {

// Anything that Stoker raises.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A wrong graph: an unknown operator or argument, a bad value, types that do not fit. Python: also
// a ValueError.
struct GraphError : Error {
  using Error::Error;
};
// A sample that cannot be delivered: damaged or missing bytes, a window outside the picture.
// Subject to `on_error`.
struct SampleError : Error {
  explicit SampleError(const std::string& what, int64_t offset = -1)
      : Error(what), offset(offset) {}
  int64_t offset;  // byte offset in the source where it went wrong, -1 when unknown
};
// A memory budget does not suffice. Python: also a MemoryError.
struct BudgetError : Error {
  using Error::Error;
};
// A device is missing, or work on it failed.
struct DeviceError : Error {
  using Error::Error;
};
// Calls `f`; a DeviceError of it says which step it concerns.
template <class F>
void naming_step(const std::string& step, const F& f) {
  try {
    f();
  } catch (const DeviceError& e) {
    throw DeviceError(step + ": " + e.what());
  }
}
// Data that was to be fed did not come: nothing was fed, a source in the user's program failed.
struct SourceError : Error {
  using Error::Error;
};
// A state that does not fit, a pipeline used after fork or from two threads at once.
struct StateError : Error {
  using Error::Error;
};

}  // namespace stoker
