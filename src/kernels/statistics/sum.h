// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums along axes, of values or of their squared distances, and the least and the greatest of them.
//
// Note [Sums]
// Elements that make one sum are numbered with the last axis running fastest. Each block of
// kSumBlock of them is dealt to kSumLanes lanes, which are summed up one element after the other.
// The upper half of the lanes is added to the lower one until one is left, and the blocks are added
// in their order. So the bytes are the same on every CPU and device. Whole numbers are summed up
// exactly, modulo 2^64, and floats in double precision.
#pragma once
#include "base/view.h"
#include "kernels/convert.h"
#include "memory/arena.h"

namespace stoker {

inline constexpr int kSumLanes = 32;
inline constexpr int64_t kSumBlock = 4096;

// A sum of values of type T: the types of the sum in a lane, of the whole, and of the number that
// this stands for, and what it is without values.
template <class T>
struct Sum {
  using Element = T;
  static constexpr bool kCentred = false;
  static constexpr bool kFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half>;
  static constexpr bool kSigned = std::is_signed_v<T>;
  using Lane =
      std::conditional_t<kFloat, double,
                         std::conditional_t<(sizeof(T) > 2), uint64_t,
                                            std::conditional_t<kSigned, int32_t, uint32_t>>>;
  using Total = std::conditional_t<kFloat, double, uint64_t>;
  using Result = std::conditional_t<kFloat, double, std::conditional_t<kSigned, int64_t, uint64_t>>;
  static constexpr Lane kNone = 0;

  STOKER_HD static Lane load(T v, double) {
    if constexpr (std::is_same_v<T, Bool>) return v.byte != 0;
    else if constexpr (std::is_same_v<T, Half>) return to_float(v);
    else return static_cast<Lane>(v);
  }
  template <class N>
  STOKER_HD static N add(N a, N b) {
    if constexpr (kFloat) return detail::add_once(a, b);
    else return static_cast<N>(a + b);
  }
};

// A sum of 64-bit numbers in double precision, which they do not overflow.
template <class T>
struct DoubleSum {
  using Element = T;
  using Lane = double;
  using Total = double;
  using Result = double;
  static constexpr bool kCentred = false;
  static constexpr Lane kNone = 0;

  STOKER_HD static double load(T v, double) { return convert<double>(v); }
  STOKER_HD static double add(double a, double b) { return detail::add_once(a, b); }
};
template <class T>
using WideSum = std::conditional_t<std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>,
                                   DoubleSum<T>, Sum<T>>;

// The least or the greatest value. NaN is both.
template <class T, bool kMost>
struct Extreme {
  using Element = T;
  using Lane = std::conditional_t<std::is_same_v<T, Half>, float,
                                  std::conditional_t<std::is_same_v<T, Bool>, uint8_t, T>>;
  using Total = Lane;
  using Result = Lane;
  static constexpr bool kCentred = false;
  using Limits = std::numeric_limits<Lane>;
  static constexpr Lane kEnd = std::is_same_v<T, Bool>          ? Lane(1)
                               : std::is_floating_point_v<Lane> ? Limits::infinity()
                                                                : Limits::max();
  static constexpr Lane kStart =
      std::is_floating_point_v<Lane> ? -Limits::infinity() : Limits::min();
  static constexpr Lane kNone = kMost ? kStart : kEnd;

  STOKER_HD static Lane load(T v, double) {
    if constexpr (std::is_same_v<T, Bool>) return v.byte != 0;
    else if constexpr (std::is_same_v<T, Half>) return to_float(v);
    else return v;
  }
  STOKER_HD static Lane add(Lane a, Lane b) {
    bool wins = kMost ? a > b : a < b;
    if constexpr (std::is_floating_point_v<Lane>) wins = wins || a != a;
    return wins ? a : b;
  }
};
template <class T>
using Least = Extreme<T, false>;
template <class T>
using Greatest = Extreme<T, true>;

// A sum of the squares of what values of type T are away from a centre.
template <class T>
struct SquaredDistances {
  using Element = T;
  using Lane = double;
  using Total = double;
  using Result = double;
  static constexpr bool kCentred = true;
  static constexpr Lane kNone = 0;

  STOKER_HD static double load(T v, double centre) {
    const double x = detail::add_once(convert<double>(v), -centre);
    return detail::mul_once(x, x);
  }
  STOKER_HD static double add(double a, double b) { return detail::add_once(a, b); }
};

// The sum of the lanes, `step` numbers apart. Only the first `used` ones have values.
template <class Kind>
STOKER_HD typename Kind::Total fold(typename Kind::Lane* lanes, int64_t used, int64_t step) {
  int half = kSumLanes / 2;
  while (half >= used && half > 0) half /= 2;
  for (; half > 0; half /= 2)
    for (int l = 0; l < half; ++l)
      lanes[l * step] = Kind::add(lanes[l * step], lanes[(l + half) * step]);
  if constexpr (std::is_same_v<typename Kind::Lane, int32_t>)
    return static_cast<typename Kind::Total>(int64_t{lanes[0]});
  else return static_cast<typename Kind::Total>(lanes[0]);
}

// The lanes that n elements may use: a power of two.
STOKER_HD inline int64_t lanes_used(int64_t n) {
  int64_t lanes = 1;
  while (lanes < n && lanes < kSumLanes) lanes *= 2;
  return lanes;
}

// Sets `out`, which is dense and has the kept axes of `in` in order, to sums over the axes that are
// `reduced`, converted to its dtype. Requires: no overlap.
void sum(const View& in, const bool* reduced, const View& out, Arena& scratch);
// The same, with 64-bit numbers summed up in double precision.
void wide_sum(const View& in, const bool* reduced, const View& out, Arena& scratch);
// The least or the greatest values instead. Of no values it is the end of the dtype's range.
void extremes(const View& in, const bool* reduced, bool greatest, const View& out, Arena& scratch);
// Sums of squared distances instead. `centres` has one for each element of `out`, in their order.
void sum_squared_distances(const View& in, const bool* reduced, const double* centres,
                           const View& out, Arena& scratch);

}  // namespace stoker
