// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Values at any places by the cubic and the Lanczos filter of resize, the same on CPUs and devices.
//
// Note [Filtered places]
// A place between two values lies a fraction behind the first of them. The four or six values next
// to it have the weights of the filter (kernels/resample/taps.h) at their distances, divided by the
// sum of these. What lies outside has its weight too. At the centre of a value there is just this
// value, so a NaN beside it does not spread. A Warp's cubic filter is steeper: its a is that of
// OpenCV, -0.75. Where it shows constants alone, it gives just the constant.
//
// Of the Lanczos filter's sin(pi t) sin(pi t / 3) / t^2, at the distances t = k - fraction, the
// first factor differs only in its sign, so the division by the sum removes it. A fraction above
// one half is that of the mirrored row, so nothing cancels out.
#pragma once
#include "base/exact_math.h"
#include "kernels/warp/warp_map.h"

namespace stoker {

inline constexpr double kResizeCubic = -0.5, kWarpCubic = -0.75;

// Along one axis: which values make the one at a place, with weights that sum to 1.
struct PlaceTaps {
  static constexpr int kMost = 6;
  int64_t first;
  int count = 1;
  double weight[kMost] = {1};

  // How many values make a place between others, and how many of them lie before its whole part.
  STOKER_HD static constexpr int count_of(Filter filter) {
    return filter == Filter::kCubic ? 4 : kMost;
  }
  STOKER_HD static constexpr int before(Filter filter) { return count_of(filter) / 2 - 1; }

  // Requires: the filter is kCubic or kLanczos3.
  STOKER_HD PlaceTaps(int64_t place, Filter filter, double a = kResizeCubic)
      : first(whole_part(place)) {
    const auto bits = static_cast<uint32_t>(place);
    if (bits == 0) return;
    const bool is_mirrored = bits > uint32_t{1} << 31;
    const auto part = static_cast<double>(is_mirrored ? ~bits + 1 : bits);
    count = count_of(filter);
    first -= before(filter);
    double given[kMost];
    if (filter == Filter::kCubic) cubic(part * 0x1p-32, given, a);
    else lanczos(part * 0x1p-32, given);
    double sum = 0;
    for (int k = 0; k < count; ++k) sum = detail::add_once(sum, given[k]);
    for (int k = 0; k < count; ++k) weight[k] = given[is_mirrored ? count - 1 - k : k] / sum;
  }

  // The weights before their division by the sum. Requires: fraction <= 1/2; for lanczos() not 0.
  STOKER_HD static void cubic(double fraction, double* w, double a = kResizeCubic) {
    const double t[4] = {1 + fraction, fraction, 1 - fraction, 2 - fraction};
    for (int k = 0; k < 4; ++k) {
      const bool is_near = k == 1 || k == 2;
      const double x = t[k];
      w[k] = is_near ? line(detail::mul_once(line(x, a + 2, -a - 3), x), x, 1)
                     : line(line(line(x, a, -5 * a), x, 8 * a), x, -4 * a);
    }
  }
  STOKER_HD static void lanczos(double fraction, double* w) {
    constexpr double kThird = 0x1.0c152382d7365p+0, kHalfRoot = 0x1.bb67ae8584caap-1;  // of pi, 3
    constexpr double kSines[6] = {-kHalfRoot, -kHalfRoot, 0, kHalfRoot, kHalfRoot, 0};
    constexpr double kCosines[6] = {-0.5, 0.5, 1, 0.5, -0.5, -1};
    const double angle = detail::mul_once(fraction, kThird);
    const auto [s, c] = exact::sin_cos_of_small(angle);
    for (int k = 0; k < 6; ++k) {
      const double t = k - 2 - fraction;
      const double sine =
          detail::add_once(detail::mul_once(kSines[k], c), -detail::mul_once(kCosines[k], s));
      w[k] = (k % 2 ? sine : -sine) / detail::mul_once(t, t);
    }
  }

 private:
  STOKER_HD static double line(double x, double slope, double start) {
    return detail::add_once(detail::mul_once(x, slope), start);
  }
};

// The weights of n places in float32: weight k of place i becomes to[k * pitch + i]. At the centre
// of a value that has weight 1, its neighbours 0. Runs on CPUs only.
void find_weights(const int64_t* place, int64_t n, Filter filter, float* to, int64_t pitch);

// The value of a picture at a place. load(offset) gives a value of it, `fill` is one outside.
template <class N, class Load>
STOKER_HD N filtered(const PlaceTaps& y, const PlaceTaps& x, const WarpInput& source, N fill,
                     const Load& load) {
  N sum = 0;
  for (int i = 0; i < y.count; ++i) {
    const int64_t down = source.shown(0, y.first + i);
    N row = 0;
    for (int j = 0; j < x.count; ++j) {
      const int64_t right = source.shown(1, x.first + j);
      const bool is_there = down >= 0 && right >= 0;
      const N value = is_there ? load(down * source.stride[0] + right * source.stride[1]) : fill;
      row = detail::add_once(row, detail::mul_once(static_cast<N>(x.weight[j]), value));
    }
    sum = detail::add_once(sum, detail::mul_once(static_cast<N>(y.weight[i]), row));
  }
  return sum;
}

// The value of a Warp at a place, by the cubic filter.
template <class N, class Load>
STOKER_HD N warped_cubic(const int64_t (&place)[WarpInput::kMost], const WarpInput& source, N fill,
                         const Load& load) {
  const PlaceTaps y(place[0], Filter::kCubic, kWarpCubic);
  const PlaceTaps x(place[1], Filter::kCubic, kWarpCubic);
  if (source.is_outside(0, y.first, y.count - 1) || source.is_outside(1, x.first, x.count - 1))
    return fill;
  return filtered(y, x, source, fill, load);
}

}  // namespace stoker
