// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which input values make a value of a Warp, and how. Plain values and pure functions; thread-safe.
//
// Note [Warps]
// A place is a whole number of 2^-32 of a position. The matrix and the offset are rounded to such
// numbers once; then the place of an output position is a sum of products of whole numbers. So it
// is exact and does not depend on where a row begins, and CPUs and devices agree. Terms of 2^28
// positions or more are cut off.
//
// The nearest value is the one at the whole part of its place. Between values, a place is half a
// position less, so that it is whole at the centre of a value, and its fraction is the weight of
// the next value. Axes are interpolated from the last one to the first. Between equal values lies
// just this value. A value of weight 0 takes no part, so a NaN does not spread to what does not
// show it. A border that is clamped clamps the place to [0, extent - 1].
//
// From uint8 to uint8 fractions are cut to 15 bits. Values have 7 fraction bits between the axes,
// and each axis rounds a + (b - a) * fraction to them. That takes few instructions for many values,
// and what comes out is within one level of the exact result. Else the arithmetic is a * (1 -
// fraction) + b * fraction, in float32 with fractions of 24 bits, or in float64 where Note
// [Rounding] says so.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "kernels/block.h"
#include "kernels/convert.h"

namespace stoker {

inline constexpr int kPlaceBits = 32;
STOKER_HD constexpr int64_t whole_part(int64_t place) { return place >> kPlaceBits; }

// The place along axis i of output position p is start[i] plus all step[i][j] * p[j].
struct WarpMap {
  int64_t start[Warp::kMost] = {}, step[Warp::kMost][Warp::kMost] = {};
};
WarpMap warp_map(const Warp& w);

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
struct FloatMean {
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
struct WarpSource {
  static constexpr int kMost = Warp::kMost;
  bool clamped;
  int64_t extent[kMost] = {1, 1, 1}, stride[kMost] = {};  // strides in bytes

  STOKER_HD void clamp(int64_t (&place)[kMost]) const {
    for (int i = 0; clamped && i < kMost; ++i) {
      const int64_t most = (extent[i] - 1) << kPlaceBits;
      place[i] = place[i] < 0 ? 0 : place[i] > most ? most : place[i];
    }
  }
  // Whether [first, first + more] lies inside along axis i.
  STOKER_HD bool is_inside(int i, int64_t first, int more) const {
    return first >= 0 && first + more < extent[i];
  }
  // Calls value(offset) with that of the nearest value, or returns `fill`. Requires: the place is
  // clamped.
  template <class V, class Load>
  STOKER_HD V nearest(const int64_t (&place)[kMost], V fill, const Load& load) const {
    int64_t offset = 0;
    for (int i = 0; i < kMost; ++i) {
      if (!is_inside(i, whole_part(place[i]), 0)) return fill;
      offset += whole_part(place[i]) * stride[i];
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
      const int64_t first = whole_part(place[kAxis]);
      const auto fraction = Mean::fraction(place[kAxis]);
      offset += first * stride[kAxis];
      const auto a =
          along<Mean, kAxis + 1>(place, offset, inside && is_inside(kAxis, first, 0), fill, load);
      if (fraction == 0) return a;
      const auto b = along<Mean, kAxis + 1>(place, offset + stride[kAxis],
                                            inside && is_inside(kAxis, first + 1, 0), fill, load);
      return Mean::mean(a, b, fraction);
    }
  }
};

// Whether a Warp interpolates in integers.
STOKER_HD constexpr bool is_fixed_warp(DType from, DType to) {
  return from == DType::kUint8 && to == DType::kUint8;
}

}  // namespace stoker
