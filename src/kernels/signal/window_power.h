// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of squares in a window that slides over a signal, on CPUs and devices.
//
// Note [Window power]
// The signal is cut into blocks as long as the window. A window is the end of one block and the
// beginning of the next, so its sum is that of two sums which grow from the border between them.
// Nothing is ever subtracted: silence behind noise has a power of 0, however long the signal is.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/convert.h"

namespace stoker {

template <class T>
struct WindowPower {
  const std::byte* in;
  int64_t stride;  // bytes between values
  int64_t size, length;  // size >= length >= 1; length: of the window

  STOKER_HD int64_t count() const { return size - length + 1; }
  STOKER_HD int64_t blocks() const { return (size + length - 1) / length; }
  STOKER_HD double square(int64_t k) const {
    const double v = convert<double>(*reinterpret_cast<const T*>(in + k * stride));
    return detail::mul_once(v, v);
  }
  // Sets `sums`, which has room for a window, to the sums of all windows that begin in block b, the
  // first one first. Returns how many these are.
  STOKER_HD int64_t sum_block(int64_t b, double* sums) const {
    const int64_t begin = b * length, rest = count() - begin;
    if (rest <= 0) return 0;
    double sum = 0;
    for (int64_t k = length - 1; k >= 0; --k)
      sums[k] = sum = detail::add_once(sum, square(begin + k));
    const int64_t n = rest < length ? rest : length;
    double more = 0;
    for (int64_t k = 1; k < n; ++k) {
      more = detail::add_once(more, square(begin + length + k - 1));
      sums[k] = detail::add_once(sums[k], more);
    }
    return n;
  }
};

}  // namespace stoker
