// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A window of an array in NumPy's file format: which bytes of the file it needs.
#pragma once
#include "base/small.h"
#include "codec/arrays/npy.h"

namespace stoker {

// Runs of bytes of one size. Runs near each other in the file are joined, with what lies between.
class NpyWindow {
 public:
  // Requires: the window lies in the array and is not empty.
  NpyWindow(const NpyHeader& header, const Window& window);

  int64_t runs() const { return runs_; }
  int64_t run_bytes() const { return run_bytes_; }
  int64_t offset(int64_t run) const;
  // The window, once all runs lie in `data`, one behind the other and aligned to the dtype. Brings
  // them into this machine's byte order.
  View view(uint8_t* data) const;

 private:
  NpyHeader header_;
  Window window_;
  Shape steps_;  // by axis: bytes from one position to the next, in the file
  Small<int> outer_;  // the axes whose positions have runs of their own, the innermost first
  int64_t runs_ = 1, run_bytes_ = 0;
};

}  // namespace stoker
