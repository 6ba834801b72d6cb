// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows that reach beyond the edges of a tensor.
#pragma once
#include <algorithm>
#include <span>

#include "base/types.h"
#include "kernels/border.h"

namespace stoker {

// The window of position p covers [p - anchor, p - anchor + size). Requires: 0 <= anchor < size.
struct WindowAxis {
  int axis = 0;
  int64_t size = 1, anchor = 0;

  bool operator==(const WindowAxis&) const = default;
};

// What the windows of all positions in `wanted` need of a tensor of shape `full`.
inline Window window_demand(const Window& wanted, const Shape& full,
                            std::span<const WindowAxis> axes, Border border) {
  Window needed = wanted;
  if (wanted.shape().volume() == 0) return needed;
  for (const WindowAxis& w : axes) {
    int64_t &begin = needed.begin[w.axis], &end = needed.end[w.axis];
    const int64_t before = w.anchor, behind = w.size - 1 - w.anchor, n = full[w.axis];
    const bool reaches_out = begin < before || end + behind > n;
    // Mirrored positions lie at most as far inside as the window reaches to either side.
    const int64_t reach = reaches_out ? std::max(before, behind) : 0;
    begin = std::max<int64_t>(begin - std::max(before, reach), 0);
    end = std::min(end + std::max(behind, reach), n);
    if (reaches_out && border == Border::kWrap) begin = 0, end = n;
  }
  return needed;
}

}  // namespace stoker
