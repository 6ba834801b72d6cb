// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/warp/warp_map.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// `v`, which will be multiplied by up to `most` positions, as a place.
int64_t place_of(double v, int64_t most) {
  const double limit = 0x1p28 / static_cast<double>(std::max<int64_t>(most, 1));
  const double cut = v > -limit ? std::min(v, limit) : -limit;  // also a NaN
  return static_cast<int64_t>(std::floor(cut * 0x1p32 + 0.5));
}

}  // namespace

WarpMap warp_map(const Warp& w) {
  WarpMap map;
  for (int i = 0; i < w.count; ++i) {
    double start = w.offset[i] - (w.linear ? 0.5 : 0);
    for (int j = 0; j < w.count; ++j) {
      start += w.matrix[i][j] * 0.5;
      map.step[i][j] = place_of(w.matrix[i][j], w.out[j]);
    }
    map.start[i] = place_of(start, 1);
  }
  return map;
}

}  // namespace stoker
