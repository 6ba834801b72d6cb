// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Histograms of bytes, tables of new bytes, and the table that equalises a histogram.
#pragma once
#include <vector>

#include "base/view.h"
#include "kernels/convert.h"

namespace stoker {

using Histogram = uint32_t[256];
using ByteTable = uint8_t[256];

// A picture of bytes as planes: rows of `inner` planes whose elements alternate, and `outer` such
// pictures one behind the other. Plane p is p % inner of picture p / inner.
struct BytePlanes {
  int64_t outer = 1, rows, columns, inner = 1;
  int64_t outer_step = 0, row_step;  // in bytes

  int64_t planes() const { return outer * inner; }
  // Of a view with the layout HW, HWC or CHW whose rows are dense.
  static BytePlanes of(const View& v);
};

std::vector<uint32_t> histograms(const uint8_t* in, const BytePlanes& planes);

// Replaces each byte by that of its plane's table, from the first on. `out` has the same extents.
void look_up(const uint8_t* in, const BytePlanes& from, uint8_t* out, const BytePlanes& to,
             const std::vector<uint8_t>& tables);

// The new level where `below` of `all` values above the lowest level lie at or below this one.
// Rounds halves to even, as OpenCV's equalizeHist does.
STOKER_HD inline uint8_t equalized_level(uint32_t below, uint32_t all) {
  constexpr float kWhole = 0x1.8p23f;  // no number from here on has a fraction
  const float scaled =
      detail::mul_once(static_cast<float>(below), 255.0f / static_cast<float>(all));
  return static_cast<uint8_t>(detail::add_once(detail::add_once(scaled, kWhole), -kWhole));
}

// How often each value is there, as the sum of several histograms of 256 counts.
struct Counts {
  const uint32_t* first;
  int64_t parts;

  STOKER_HD uint32_t operator()(int v) const {
    uint32_t n = 0;
    for (int64_t p = 0; p < parts; ++p) n += first[p * 256 + v];
    return n;
  }
};

// Sets the table that equalises these counts. The lowest level becomes 0; one that is alone stays.
STOKER_HD inline void equalize(const Counts& count, uint8_t* table) {
  uint32_t all = 0, below = 0;
  int lowest = 256;
  for (int v = 255; v >= 0; --v) {
    const uint32_t n = count(v);
    all += n;
    if (n) lowest = v;
  }
  if (lowest < 256) all -= count(lowest);
  for (int v = 0; v < 256; ++v) {
    if (v > lowest) below += count(v);
    table[v] = all == 0 ? static_cast<uint8_t>(v) : v > lowest ? equalized_level(below, all) : 0;
  }
}

}  // namespace stoker
