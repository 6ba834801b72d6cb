// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What lies beyond the edges of a tensor, and windows that reach there. Pure; thread-safe.
#pragma once
#include <algorithm>
#include <span>

#include "base/types.h"

namespace stoker {

// Beside 1234 there are in turn: a constant, 11 and 44, 32 and 32, 21 and 43, 34 and 12.
enum class Border : uint8_t { kConstant, kClamp, kReflect101, kReflect1001, kWrap };

// The position that a position outside of [0, n) stands for, about the outermost element. Requires:
// n > 0.
STOKER_HD inline int64_t mirrored(int64_t p, int64_t n) {
  if (p >= 0 && p < n) return p;
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  p %= period;
  if (p < 0) p += period;
  return p < n ? p : period - p;
}

// The position in [0, n) that position p stands for; -1: it is the constant. Requires: n > 0.
STOKER_HD inline int64_t bordered(int64_t p, int64_t n, Border border) {
  if (p >= 0 && p < n) return p;
  if (border == Border::kConstant) return -1;
  if (border == Border::kClamp) return p < 0 ? 0 : n - 1;
  if (border == Border::kReflect101) return mirrored(p, n);
  const int64_t period = border == Border::kWrap ? n : 2 * n;
  p %= period;
  if (p < 0) p += period;
  return p < n ? p : period - 1 - p;
}

// Along this axis the window of position p covers [p - anchor, p - anchor + size). Requires: anchor
// lies in [0, size).
struct WindowAxis {
  int axis = 0;
  int64_t size = 1, anchor = 0;

  bool operator==(const WindowAxis&) const = default;
};

// The window of a tensor of shape `full` that the windows of all positions in `wanted` need.
inline Window window_demand(const Window& wanted, const Shape& full,
                            std::span<const WindowAxis> axes, Border border) {
  Window needed = wanted;
  if (wanted.shape().volume() == 0) return needed;
  for (const WindowAxis& w : axes) {
    int64_t &begin = needed.begin[w.axis], &end = needed.end[w.axis];
    const int64_t before = w.anchor, behind = w.size - 1 - w.anchor, n = full[w.axis];
    const bool reaches_out = begin < before || end + behind > n;
    // What is mirrored lies at most as far inside as the window reaches to either side.
    const int64_t reach = reaches_out ? std::max(before, behind) : 0;
    begin = std::max<int64_t>(begin - std::max(before, reach), 0);
    end = std::min(end + std::max(behind, reach), n);
    if (reaches_out && border == Border::kWrap) begin = 0, end = n;
  }
  return needed;
}

}  // namespace stoker
