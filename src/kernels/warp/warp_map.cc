// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/warp/warp_map.h"

#include <algorithm>
#include <cmath>

#include "kernels/levels.h"

namespace stoker {
namespace {

// `v`, which will be multiplied by up to `most` positions, as a place.
int64_t place_of(double v, int64_t most) {
  const double limit = 0x1p28 / static_cast<double>(std::max<int64_t>(most, 1));
  const double cut = v > -limit ? std::min(v, limit) : -limit;  // also a NaN
  return static_cast<int64_t>(std::floor(cut * 0x1p32 + 0.5));
}

// Several short loops, each with one choice at most: the compiler makes branches of two in a row.
template <int kAxes>
void find_along(const PerspectiveMap& map, const int64_t* position, const int64_t* step, int n,
                int64_t* const* places) {
  constexpr int kChunk = 256;
  double first[kAxes], next[kAxes];
  for (int j = 0; j < kAxes; ++j) {
    first[j] = static_cast<double>(position[j]) + 0.5;
    next[j] = static_cast<double>(step[j]);
  }
  at_cpu_level([&] {
    const PerspectiveMap m = map;  // a copy stays in registers, whatever is written
    double found[kAxes][kChunk];
    for (int at = 0; at < n; at += kChunk) {
      const int count = std::min(kChunk, n - at);
      for (int k = 0; k < count; ++k) {
        double centre[kAxes];
        for (int j = 0; j < kAxes; ++j) centre[j] = first[j] + (at + k) * next[j];
        const double unit = 1 / m.sum<kAxes>(PerspectiveMap::kMost, centre);
        for (int i = 0; i < kAxes; ++i) found[i][k] = m.sum<kAxes>(i, centre) * unit;
      }
      for (int i = 0; i < kAxes; ++i) {
        double* const f = found[i];
        int64_t* const to = places[i] + at;
        const int64_t back = m.back;
        for (int k = 0; k < count; ++k) f[k] = PerspectiveMap::cut_below(f[k]);
        for (int k = 0; k < count; ++k) f[k] = PerspectiveMap::cut_above(f[k]);
        for (int k = 0; k < count; ++k) to[k] = PerspectiveMap::rounded(f[k]) - back;
      }
    }
  });
}

}  // namespace

PerspectiveMap::PerspectiveMap(const Warp& w) {
  if (!w.has_perspective()) return;
  count = w.count;
  back = w.is_between() ? int64_t{1} << (kPlaceBits - 1) : 0;
  for (int i = 0; i < count; ++i) {
    offset[i] = w.offset[i];
    std::copy_n(w.matrix[i], count, factor[i]);
  }
  offset[kMost] = w.divisor_offset;
  std::copy_n(w.divisor, count, factor[kMost]);
}

void PerspectiveMap::find(const int64_t* position, const int64_t* step, int64_t n,
                          int64_t* const* places) const {
  const int some = static_cast<int>(n);
  if (count == 1) return find_along<1>(*this, position, step, some, places);
  if (count == 2) return find_along<2>(*this, position, step, some, places);
  find_along<3>(*this, position, step, some, places);
}

double perspective_error(const PerspectiveMap& m, int i, int64_t extent, const double* most,
                         double least) {
  const auto size = [&](int k) {
    double sum = std::fabs(m.offset[k]);
    for (int j = 0; j < m.count; ++j) sum += std::fabs(m.factor[k][j]) * most[j];
    return sum;
  };
  const double place = static_cast<double>(extent) + 1;
  return (size(i) + place * size(PerspectiveMap::kMost)) * 0x1p-48 / least + place * 0x1p-48;
}

WarpMap warp_map(const Warp& w) {
  WarpMap map;
  if (w.has_perspective()) {
    for (int i = 0; i < w.count; ++i) map.step[i][i] = 1;
    return map;
  }
  for (int i = 0; i < w.count; ++i) {
    double start = w.offset[i] - (w.is_between() ? 0.5 : 0);
    for (int j = 0; j < w.count; ++j) {
      start += w.matrix[i][j] * 0.5;
      map.step[i][j] = place_of(w.matrix[i][j], w.out[j]);
    }
    map.start[i] = place_of(start, 1);
  }
  return map;
}

}  // namespace stoker
