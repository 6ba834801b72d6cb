// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// exp, log, sin and cos with the same bits on every CPU and device. Whatever decides a draw, a
// window or a filter tap uses these and never libm.
//
// Note [Same bits everywhere]
// Only + - * / on double (each correctly rounded by IEEE 754) and integer operations on bits are
// used, in a fixed order. The compiler must not fuse a product into a sum: the intrinsics of Num
// prevent it on devices, -ffp-contract=off prevents it on hosts, and the golden bit patterns of
// exact_math_test.cc show when it happens. Square roots use std::sqrt, which is exact by IEEE 754.
#pragma once
#include <cstdint>

#include "base/types.h"

#ifdef __FAST_MATH__
#error "exact_math.h needs IEEE arithmetic: build without -ffast-math"
#endif

namespace stoker::exact {

// A double whose operators each round once.
struct Num {
  double v;
  STOKER_HD constexpr Num(double v) : v(v) {}
};
#ifdef __CUDA_ARCH__
STOKER_HD inline Num operator+(Num a, Num b) { return __dadd_rn(a.v, b.v); }
STOKER_HD inline Num operator-(Num a, Num b) { return __dadd_rn(a.v, -b.v); }
STOKER_HD inline Num operator*(Num a, Num b) { return __dmul_rn(a.v, b.v); }
STOKER_HD inline Num operator/(Num a, Num b) { return __ddiv_rn(a.v, b.v); }
#else
STOKER_HD inline Num operator+(Num a, Num b) { return a.v + b.v; }
STOKER_HD inline Num operator-(Num a, Num b) { return a.v - b.v; }
STOKER_HD inline Num operator*(Num a, Num b) { return a.v * b.v; }
STOKER_HD inline Num operator/(Num a, Num b) { return a.v / b.v; }
#endif

namespace detail {

STOKER_HD inline uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
STOKER_HD inline double from_bits(uint64_t b) { return __builtin_bit_cast(double, b); }
// 2 to the e. Requires: -1022 <= e <= 1023.
STOKER_HD inline Num power_of_two(int e) {
  return from_bits(static_cast<uint64_t>(e + 1023) << 52);
}
// c[0] + z c[1] + z^2 c[2] + ...
template <int N>
STOKER_HD inline Num polynomial(Num z, const double (&c)[N]) {
  Num sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i) sum = sum * z + c[i];
  return sum;
}
STOKER_HD inline double infinity() { return from_bits(0x7ff0000000000000); }
// A positive quiet NaN. The NaN that arithmetic makes differs between machines.
STOKER_HD inline double not_a_number() { return from_bits(0x7ff8000000000000); }

// ln 2 as the sum of a part of 32 bits, whose products with exponents are exact, and a rest.
inline constexpr double kLn2High = 0x1.62e42feep-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// An angle as (a multiple of pi/2) + high + low, where |high| is hardly more than pi/4.
struct Reduced {
  int quadrant;  // 0..3
  Num high, low;
};

// Splits pi/2 into three parts of 27 bits, whose products with k (26 bits) are exact, and a rest.
// What the differences round off is kept, so angles next to a multiple of pi/2 lose nothing.
// Requires: |x| <= kMaxAngle.
STOKER_HD inline Reduced reduce_angle(double x) {
  const Num turns = Num(x) * Num(0x1.45f306dc9c883p-1);
  const int64_t k = static_cast<int64_t>((turns + Num(x < 0 ? -0.5 : 0.5)).v);
  const Num n = static_cast<double>(k);
  const Num a = Num(x) - n * Num(0x1.921fb54p+0);
  const Num p = n * Num(0x1.10b461p-30);
  const Num b = a - p;
  const Num lost_b = (a - (b + (a - b))) + ((a - b) - p);
  const Num q = n * Num(0x1.a62633p-58);
  const Num c = b - q;
  const Num lost_c = (b - (c + (b - c))) + ((b - c) - q);
  const Num rest = lost_b + lost_c - n * Num(0x1.45c06e0e68948p-86);
  const Num high = c + rest;
  return {static_cast<int>(k & 3), high, rest - (high - c)};
}

// Taylor series. The first term that is left out is below 2^-56 of the result for |r| <= pi/4.
STOKER_HD inline Num sin_near_zero(Num r, Num low) {
  constexpr double c[] = {
      -1. / 6,        1. / 120,        -1. / 5040,          1. / 362880,
      -1. / 39916800, 1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000};
  const Num z = r * r;
  return r + (z * r * polynomial(z, c) + low * (Num(1) - z * Num(0.5)));
}
STOKER_HD inline Num cos_near_zero(Num r, Num low) {
  constexpr double c[] = {1. / 24,        -1. / 720,         1. / 40320,         -1. / 3628800,
                          1. / 479001600, -1. / 87178291200, 1. / 20922789888000};
  const Num z = r * r, half = z * Num(0.5);
  const Num w = Num(1) - half;
  return w + ((Num(1) - w - half) + (z * z * polynomial(z, c) - r * low));
}
STOKER_HD inline double wave(double x, int quarter_turns);

}  // namespace detail

// The largest angle, in radians, for which sin and cos are numbers.
inline constexpr double kMaxAngle = 1e8;

// The range of numbers whose powers of e are neither infinity nor 0.
inline constexpr double kLeastPower = -745.2, kMostPower = 709.8;

// e to the x, without branches. Requires: kLeastPower <= x <= kMostPower.
STOKER_HD inline double exp_in_range(double x) {
  using namespace detail;
  constexpr double c[] = {1. / 2,       1. / 6,        1. / 24,        1. / 120,
                          1. / 720,     1. / 5040,     1. / 40320,     1. / 362880,
                          1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
  const Num half_away = __builtin_copysign(0.5, x);
  const int k = static_cast<int>((Num(x) * Num(0x1.71547652b82fep+0) + half_away).v);
  const Num n = static_cast<double>(k);
  const Num high = Num(x) - n * Num(kLn2High), low = n * Num(kLn2Low);
  const Num r = high - low, lost = (high - r) - low;
  const Num e = Num(1) + (r + (r * r * polynomial(r, c) + (lost + lost * r)));
  const int half = k / 2;  // in two steps, as 2^k may be out of range
  return (e * power_of_two(half) * power_of_two(k - half)).v;
}

// e to the x: within 1 ulp where the result is normal, else within 2 of the smallest doubles.
STOKER_HD inline double exp(double x) {
  if (x != x) return detail::not_a_number();
  if (x > kMostPower) return detail::infinity();
  return x < kLeastPower ? 0 : exp_in_range(x);
}

// The natural logarithm, within 1 ulp, plus `e` ln 2. Requires: x is positive, finite and normal.
STOKER_HD inline double log_of_normal(double x, int e = 0) {
  using namespace detail;
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)): adding the distance from sqrt(1/2) to 1 carries into
  // the exponent.
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
  const uint64_t shifted = bits_of(x) + (kOne - kSqrtHalf);
  e += static_cast<int>(shifted >> 52) - 1023;
  const Num f = Num(from_bits((shifted & 0x000fffffffffffff) + kSqrtHalf)) - Num(1);
  // log(1 + f) = 2 atanh(s) = 2 s + s R with s = f / (2 + f), and 2 s = f - s f = f - (f^2/2 - s
  // f^2/2).
  constexpr double c[] = {2. / 3,  2. / 5,  2. / 7,  2. / 9,  2. / 11, 2. / 13,
                          2. / 15, 2. / 17, 2. / 19, 2. / 21, 2. / 23};
  const Num s = f / (Num(2) + f), z = s * s, half = f * f * Num(0.5), n = static_cast<double>(e);
  const Num small = s * (half + z * polynomial(z, c)) + n * Num(kLn2Low);
  return (n * Num(kLn2High) - ((half - small) - f)).v;
}

// The natural logarithm, within 1 ulp. log(0) is -infinity; of a negative number it is NaN.
STOKER_HD inline double log(double x) {
  using namespace detail;
  if (x != x || x < 0) return not_a_number();
  if (x == 0) return -infinity();
  if (x == infinity()) return x;
  return x < 0x1p-1022 ? log_of_normal((Num(x) * Num(0x1p54)).v, -54) : log_of_normal(x);
}

// In radians, within 1 ulp for |x| <= kMaxAngle; NaN for larger x, infinity and NaN.
STOKER_HD inline double sin(double x) { return detail::wave(x, 0); }
STOKER_HD inline double cos(double x) { return detail::wave(x, 1); }

// cos(x) = sin(x + pi/2).
STOKER_HD inline double detail::wave(double x, int quarter_turns) {
  if (!(x >= -kMaxAngle && x <= kMaxAngle)) return not_a_number();
  if (x == 0) return quarter_turns ? 1.0 : x;
  const Reduced r = reduce_angle(x);
  const int q = (r.quadrant + quarter_turns) & 3;
  const Num y = q & 1 ? cos_near_zero(r.high, r.low) : sin_near_zero(r.high, r.low);
  return q & 2 ? -y.v : y.v;
}

struct SinCos {
  double sin, cos;
};
// What sin and cos give, without their branches. Requires: 0 <= x <= 3/4.
STOKER_HD inline SinCos sin_cos_of_small(double x) {
  return {detail::sin_near_zero(x, 0.0).v, detail::cos_near_zero(x, 0.0).v};
}
// Of `part` / 2^32 of a full turn, within 1 ulp.
STOKER_HD inline SinCos sin_cos_of_turn(uint32_t part) {
  using namespace detail;
  const uint32_t quadrant = (part + (1u << 29)) >> 30;  // 4 is 0 again
  const auto rest = static_cast<int32_t>(part - (quadrant << 30));  // at most half a quadrant
  const Num angle = Num(rest) * Num(0x1.921fb54442d18p-30);
  const uint64_t s = bits_of(sin_near_zero(angle, 0.0).v), c = bits_of(cos_near_zero(angle, 0.0).v);
  // By bits, as branches would keep loops from becoming vectors.
  const uint64_t swapped = (s ^ c) & (uint64_t{0} - (quadrant & 1));
  const uint64_t minus = uint64_t{quadrant & 2} << 62, other = uint64_t{(quadrant + 1) & 2} << 62;
  return {from_bits(s ^ swapped ^ minus), from_bits(c ^ swapped ^ other)};
}

}  // namespace stoker::exact
