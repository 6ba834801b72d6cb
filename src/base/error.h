// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The errors that end a call, mirrored one to one in Python (stoker.errors). Messages name what was
// expected and what came. They are valid UTF-8, whatever the names of files in them are.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/text.h"

namespace stoker {

// The base of everything that Stoker throws.
struct Error : std::runtime_error {
  explicit Error(const std::string& what) : std::runtime_error(valid_utf8(what)) {}
};
// A wrong graph: an unknown operator or argument, a bad value, types that do not fit. In Python it
// is also a ValueError.
struct GraphError : Error {
  using Error::Error;
};
// A sample that cannot be delivered: damaged or missing bytes, a window outside the picture. The
// policy `on_error` decides what happens then.
struct SampleError : Error {
  explicit SampleError(const std::string& what, int64_t offset = -1)
      : Error(what), offset(offset) {}
  int64_t offset;  // where the source is damaged, in bytes; -1: unknown
};
// A memory budget that does not suffice. In Python it is also a MemoryError.
struct BudgetError : Error {
  using Error::Error;
};
// A missing device, or work that failed on a device.
struct DeviceError : Error {
  using Error::Error;
};
// Calls `f`. Puts `step`, which it concerns, before the message of a DeviceError that it throws.
template <class F>
void naming_step(const std::string& step, const F& f) {
  try {
    f();
  } catch (const DeviceError& e) {
    throw DeviceError(step + ": " + e.what());
  }
}
// Data that was to be fed did not come: nothing was fed, or a source in the user's program failed.
struct SourceError : Error {
  using Error::Error;
};
// A state that does not fit, or a pipeline that is used after a fork or from two threads at once.
struct StateError : Error {
  using Error::Error;
};

}  // namespace stoker
