// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which input values make a value of a Warp, and how.
//
// Note [Warps]
// A place is a whole number of 2^-32 of a position. The matrix and the offset are rounded to such
// numbers once; then the place of an output position is an exact sum of products of whole numbers.
// It does not depend on where a row begins, and CPUs and devices agree. Terms of 2^28 positions or
// more are cut off.
//
// With a perspective, the place is computed in float64 of the output position alone: the sums of
// the numerators and of the divisor begin with their offsets, each numerator is multiplied by 1 /
// divisor, cut off at 2^28 and rounded to a whole number of 2^-32. What is computed along rows and
// passes is then the output position, of which PerspectiveMap makes the place at last. Behind the
// horizon, where the divisor is negative, the picture appears once more, mirrored. On the horizon
// only the border shows.
//
// The nearest value is the one at the whole part of its place. Between values, a place is half a
// position less, so that it is whole at the centre of a value, and its fraction is the weight of
// the next value. Axes are interpolated from the last one to the first. Between equal values lies
// just this value. A value of weight 0 takes no part, so a NaN does not spread to what does not
// show it. The border decides for each value outside of the input which is taken (`bordered` of
// kernels/border.h).
//
// From uint8 to uint8 fractions are cut to 15 bits. Values have 7 fraction bits between the axes,
// and each axis rounds a + (b - a) * fraction to them, which takes few instructions and gives
// results within one level of the exact one. Else the arithmetic is a * (1 - fraction) + b *
// fraction, in float32 with fractions of 24 bits, or in float64 where Note [Rounding] says so. The
// cubic filter is that of Note [Filtered places] (kernels/warp/place_filter.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "kernels/block.h"
#include "kernels/convert.h"

namespace stoker {

inline constexpr int kPlaceBits = 32;
STOKER_HD constexpr int64_t whole_part(int64_t place) { return place >> kPlaceBits; }

// The place along axis i of output position p is start[i] plus all step[i][j] * p[j]. With a
// perspective it is p[i], of which PerspectiveMap makes the place.
struct WarpMap {
  int64_t start[Warp::kMost] = {}, step[Warp::kMost][Warp::kMost] = {};
};
WarpMap warp_map(const Warp& w);

// The places of a Warp with a perspective.
struct PerspectiveMap {
  static constexpr int kMost = Warp::kMost;
  int count = 0;  // of axes; 0: there is no perspective
  double offset[kMost + 1] = {}, factor[kMost + 1][kMost] = {};  // the divisor's are the last ones
  int64_t back = 0;  // what places are less where values are interpolated

  PerspectiveMap() = default;
  explicit PerspectiveMap(const Warp& w);

  STOKER_HD void find(int64_t (&position)[kMost]) const {
    double centre[kMost];
    for (int j = 0; j < kMost; ++j) centre[j] = static_cast<double>(position[j]) + 0.5;
    const double unit = 1 / sum<kMost>(kMost, centre);
    for (int i = 0; i < count; ++i) {
      const double place = detail::mul_once(sum<kMost>(i, centre), unit);
      position[i] = rounded(cut_above(cut_below(place))) - back;
    }
  }
  // Writes the places of n < 2^28 positions, `step` apart from `position` on, to a list per axis.
  void find(const int64_t* position, const int64_t* step, int64_t n, int64_t* const* places) const;

  // Of the first kAxes axes; the others have no part in it.
  template <int kAxes>
  STOKER_HD double sum(int i, const double* centre) const {
    double s = offset[i];
    for (int j = 0; j < kAxes; ++j)
      s = detail::add_once(s, detail::mul_once(factor[i][j], centre[j]));
    return s;
  }
  // Cut places off at both ends; what is not a number counts as far below.
  static constexpr double kMostPlace = 0x1p28;
  STOKER_HD static double cut_below(double p) { return p > -kMostPlace ? p : -kMostPlace; }
  STOKER_HD static double cut_above(double p) { return p < kMostPlace ? p : kMostPlace; }
  // Rounds to a whole number of 2^-32 by additions alone, which every CPU can do to many at once:
  // numbers next to kShift are a whole number apart.
  STOKER_HD static int64_t rounded(double place) {
    constexpr double kShift = 0x1.8p52;
    constexpr int64_t kBits = __builtin_bit_cast(int64_t, kShift);
    const double shifted = detail::add_once(place, kShift);
    const double rest = detail::add_once(place, -detail::add_once(shifted, -kShift));
    const double part = detail::add_once(detail::mul_once(rest, 0x1p32), kShift);
    const auto whole = static_cast<uint64_t>(__builtin_bit_cast(int64_t, shifted) - kBits);
    return static_cast<int64_t>(whole << kPlaceBits) + (__builtin_bit_cast(int64_t, part) - kBits);
  }
};
// The most by which rounding the map may move a place in [-1, extent] of axis i, in positions, for
// output positions with centres up to `most` and a divisor at least `least` from 0.
double perspective_error(const PerspectiveMap& m, int i, int64_t extent, const double* most,
                         double least);

// Linear interpolation in integers or in T, which is float or double.
struct FixedMean {
  using Value = int32_t;
  STOKER_HD static int32_t of(uint8_t v) { return v << 7; }
  STOKER_HD static int32_t fraction(int64_t place) {
    return static_cast<int32_t>(place >> (kPlaceBits - 15)) & 0x7fff;
  }
  STOKER_HD static int32_t mean(int32_t a, int32_t b, int32_t fraction) {
    return a + (((b - a) * fraction + (1 << 14)) >> 15);
  }
  STOKER_HD static uint8_t result(int32_t sum) { return static_cast<uint8_t>((sum + 64) >> 7); }
};
template <class T>
struct FloatBlend {
  using Value = T;
  static constexpr int kBits = sizeof(T) == 4 ? 24 : 32;
  template <class V>
  STOKER_HD static T of(V v) {
    return convert<T>(v);
  }
  STOKER_HD static T fraction(int64_t place) {
    const auto bits = static_cast<uint32_t>(place) >> (kPlaceBits - kBits);
    return static_cast<T>(bits) * (T(1) / static_cast<T>(int64_t{1} << kBits));
  }
  STOKER_HD static T mean(T a, T b, T fraction) {
    if (a == b) return a;
    return detail::add_once(detail::mul_once(a, detail::add_once(T(1), -fraction)),
                            detail::mul_once(b, fraction));
  }
};

// The input along the warped axes. Unused axes, behind the others, have an extent of 1.
struct WarpInput {
  static constexpr int kMost = Warp::kMost;
  Border border;
  int64_t extent[kMost] = {1, 1, 1}, stride[kMost] = {};  // strides in bytes

  // Whether [first, first + more] lies inside along axis i.
  STOKER_HD bool is_inside(int i, int64_t first, int more) const {
    return first >= 0 && first + more < extent[i];
  }
  // Whether none of [first, first + more] shows a value of the input.
  STOKER_HD bool is_outside(int i, int64_t first, int more) const {
    return border == Border::kConstant && (first + more < 0 || first >= extent[i]);
  }
  // The position along axis i whose value position p shows; -1: it is the constant.
  STOKER_HD int64_t shown(int i, int64_t p) const { return bordered(p, extent[i], border); }
  // Calls load(offset) with that of the nearest value, or returns `fill`.
  template <class V, class Load>
  STOKER_HD V nearest(const int64_t (&place)[kMost], V fill, const Load& load) const {
    int64_t offset = 0;
    for (int i = 0; i < kMost; ++i) {
      const int64_t at = shown(i, whole_part(place[i]));
      if (at < 0) return fill;
      offset += at * stride[i];
    }
    return load(offset);
  }
  // The interpolated value. load(offset) gives a value of the input.
  template <class Mean, class Load>
  STOKER_HD typename Mean::Value between(const int64_t (&place)[kMost], typename Mean::Value fill,
                                         const Load& load) const {
    return along<Mean, 0>(place, 0, true, fill, load);
  }

 private:
  template <class Mean, int kAxis, class Load>
  STOKER_HD typename Mean::Value along(const int64_t (&place)[kMost], int64_t offset, bool inside,
                                       typename Mean::Value fill, const Load& load) const {
    if constexpr (kAxis == kMost) {
      return inside ? load(offset) : fill;
    } else {
      const int64_t first = shown(kAxis, whole_part(place[kAxis]));
      const auto fraction = Mean::fraction(place[kAxis]);
      const auto a = along<Mean, kAxis + 1>(place, offset + first * stride[kAxis],
                                            inside && first >= 0, fill, load);
      if (fraction == 0) return a;
      const int64_t next = shown(kAxis, whole_part(place[kAxis]) + 1);
      const auto b = along<Mean, kAxis + 1>(place, offset + next * stride[kAxis],
                                            inside && next >= 0, fill, load);
      return Mean::mean(a, b, fraction);
    }
  }
};

STOKER_HD constexpr bool is_fixed_warp(DType from, DType to) {
  return from == DType::kUint8 && to == DType::kUint8;
}

}  // namespace stoker
