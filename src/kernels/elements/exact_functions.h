// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of math.*, made of base/exact_math.h, so that they have the same bits on every CPU
// and device, within a few units of the last place of a double. Results of single precision are
// rounded from that, so nearly all are the nearest. Powers of whole exponents beyond 64 and of
// fractions lose the digits that their logarithm has before the point.
#pragma once
#include <cmath>

#include "base/exact_math.h"

namespace stoker::exact {

// Angles beyond kMaxAngle are the platform's.
STOKER_HD inline double sine(double x) {
  return x >= -kMaxAngle && x <= kMaxAngle ? sin(x) : std::sin(x);
}
STOKER_HD inline double cosine(double x) {
  return x >= -kMaxAngle && x <= kMaxAngle ? cos(x) : std::cos(x);
}
STOKER_HD inline double tangent(double x) {
  if (x == 0) return x;
  return (Num(sine(x)) / Num(cosine(x))).v;
}

inline constexpr double kRadiansPerDegree = 0x1.1df46a2529d39p-6;
// Of an angle in degrees; exact at quarter turns. Only for the host.
inline SinCos sin_cos_of_degrees(double angle) {
  const Num turn = std::fmod(angle, 360);
  const double quarters = std::floor((turn / Num(90) + Num(0.5)).v);
  const double rest = ((turn - Num(90) * Num(quarters)) * Num(kRadiansPerDegree)).v;
  const double s = sin(rest), c = cos(rest);
  switch (static_cast<int>(quarters) & 3) {  // -s would be -0 at a quarter turn
    case 0: return {s, c};
    case 1: return {c, 0 - s};
    case 2: return {0 - s, -c};
    default: return {-c, s};
  }
}

// log(1 + x), also for an x that 1 + x rounds off.
STOKER_HD inline double log_of_one_and(double x) {
  const Num sum = Num(1) + Num(x);
  if (sum.v == 1) return x;
  if (!(sum.v > 0) || sum.v == detail::infinity()) return log(sum.v);
  return (Num(log(sum.v)) * (Num(x) / (sum - Num(1)))).v;
}

// A normal x as 2^exponent times rest. The rest is in (3/4, 3/2], so that an x just below a power
// of two loses nothing.
struct PowerOfTwo {
  Num exponent, rest;
  STOKER_HD explicit PowerOfTwo(double x)
      : exponent(static_cast<double>(static_cast<int>(detail::bits_of(x) >> 52) - 1023)),
        rest(detail::from_bits((detail::bits_of(x) & 0x000fffffffffffff) | 0x3ff0000000000000)) {
    if (rest.v > 1.5) exponent = exponent + Num(1), rest = rest * Num(0.5);
  }
  STOKER_HD static bool fits(double x) { return x >= 0x1p-1022 && x < detail::infinity(); }
};

STOKER_HD inline double log2(double x) {
  constexpr double kPerBase = 0x1.71547652b82fep+0;  // 1 / ln 2
  if (!PowerOfTwo::fits(x)) return (Num(log(x)) * Num(kPerBase)).v;
  const PowerOfTwo p(x);
  return (p.exponent + Num(log(p.rest.v)) * Num(kPerBase)).v;
}
STOKER_HD inline double log10(double x) {
  constexpr double kPerBase = 0x1.bcb7b1526e50ep-2;  // 1 / ln 10
  // In two parts, whose sum is log10(2). The product of the first one with an exponent is exact.
  constexpr double kHigh = 0x1.34413509p-2, kLow = 0x1.ef3fde623e256p-35;
  if (!PowerOfTwo::fits(x)) return (Num(log(x)) * Num(kPerBase)).v;
  const PowerOfTwo p(x);
  return (p.exponent * Num(kHigh) + (p.exponent * Num(kLow) + Num(log(p.rest.v)) * Num(kPerBase)))
      .v;
}

STOKER_HD inline double atan(double x) {
  using namespace detail;
  constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiRest = 0x1.1a62633145c07p-54;
  constexpr double kOfEighths[] = {0x0.0p+0,
                                   0x1.fd5ba9aac2f6ep-4,
                                   0x1.f5b75f92c80ddp-3,
                                   0x1.6f61941e4def1p-2,
                                   0x1.dac670561bb4fp-2,
                                   0x1.1e00babdefeb4p-1,
                                   0x1.4978fa3269ee1p-1,
                                   0x1.700a7c5784634p-1,
                                   0x1.921fb54442d18p-1};
  constexpr double c[] = {-1. / 3, 1. / 5, -1. / 7, 1. / 9, -1. / 11, 1. / 13, -1. / 15, 1. / 17};
  if (x != x) return not_a_number();
  if (x == 0) return x;
  const double size = x < 0 ? -x : x;
  const bool is_large = size > 1;
  const Num y = is_large ? Num(1) / Num(size) : Num(size);
  const int eighths = static_cast<int>((y * Num(8) + Num(0.5)).v);
  const Num near = Num(static_cast<double>(eighths)) * Num(0.125);
  const Num t = eighths == 0 ? y : (y - near) / (Num(1) + y * near), z = t * t;
  const Num angle = Num(kOfEighths[eighths]) + (t + t * z * polynomial(z, c));
  const Num whole = is_large ? Num(kHalfPi) - (angle - Num(kHalfPiRest)) : angle;
  return x < 0 ? -whole.v : whole.v;
}
STOKER_HD inline double asin(double x) {
  if (!(x >= -1 && x <= 1)) return detail::not_a_number();
  const Num rest = (Num(1) - Num(x)) * (Num(1) + Num(x));
  return x == 0 ? x : atan((Num(x) / Num(std::sqrt(rest.v))).v);
}
STOKER_HD inline double acos(double x) {
  if (!(x >= -1 && x <= 1)) return detail::not_a_number();
  return (Num(2) * Num(atan(std::sqrt(((Num(1) - Num(x)) / (Num(1) + Num(x))).v)))).v;
}
STOKER_HD inline double atan2(double y, double x) {
  constexpr double kPi = 0x1.921fb54442d18p+1, kPiRest = 0x1.1a62633145c07p-53;
  if (x != x || y != y) return detail::not_a_number();
  const bool is_left = std::signbit(x), is_below = std::signbit(y);
  const double up = std::fabs(y), along = std::fabs(x);  // of -0 as well
  double angle = 0;
  if (up == detail::infinity() && along == up) angle = kPi / 4;
  else if (up != 0) angle = atan((Num(up) / Num(along)).v);
  if (is_left) angle = (Num(kPi) - (Num(angle) - Num(kPiRest))).v;
  return is_below ? -angle : angle;
}

// x + x^3 / 3! + ...; for small x.
STOKER_HD inline double sinh_near_zero(double x) {
  using namespace detail;
  constexpr double c[] = {1. / 6,        1. / 120,        1. / 5040,         1. / 362880,
                          1. / 39916800, 1. / 6227020800, 1. / 1307674368000};
  const Num z = Num(x) * Num(x);
  return x == 0 ? x : (Num(x) + Num(x) * z * polynomial(z, c)).v;
}
STOKER_HD inline double sinh(double x) {
  if (x > -0.5 && x < 0.5) return sinh_near_zero(x);
  const double size = x < 0 ? -x : x;
  const Num half = exp((Num(size) * Num(0.5)).v);  // twice, as e^x may be out of range
  const Num result = half * Num(0.5) * half - Num(0.5) / half / half;
  return x < 0 ? -result.v : result.v;
}
STOKER_HD inline double cosh(double x) {
  const Num half = exp((Num(x < 0 ? -x : x) * Num(0.5)).v);
  return (half * Num(0.5) * half + Num(0.5) / half / half).v;
}
STOKER_HD inline double tanh(double x) {
  if (x != x) return detail::not_a_number();
  if (x > -0.5 && x < 0.5) return (Num(sinh_near_zero(x)) / Num(cosh(x))).v;
  const Num e = exp((Num(x < 0 ? -x : x) * Num(2)).v);
  const Num result = Num(1) - Num(2) / (e + Num(1));
  return x < 0 ? -result.v : result.v;
}
STOKER_HD inline double asinh(double x) {
  if (x == 0 || x != x || x - x != 0) return x;
  const Num size = x < 0 ? -x : x, square = size * size;
  double result = 0;
  if (size.v > 0x1p+500) result = (Num(log(size.v)) + Num(0x1.62e42fefa39efp-1)).v;
  else result = log_of_one_and((size + square / (Num(1) + Num(std::sqrt((Num(1) + square).v)))).v);
  return x < 0 ? -result : result;
}
STOKER_HD inline double acosh(double x) {
  if (!(x >= 1)) return detail::not_a_number();
  if (x > 0x1p+500) return (Num(log(x)) + Num(0x1.62e42fefa39efp-1)).v;
  const Num t = Num(x) - Num(1);
  return log_of_one_and((t + Num(std::sqrt((Num(2) * t + t * t).v))).v);
}
STOKER_HD inline double atanh(double x) {
  if (!(x >= -1 && x <= 1)) return detail::not_a_number();
  if (x == 0) return x;
  const double size = x < 0 ? -x : x;
  if (size == 1) return x < 0 ? -detail::infinity() : detail::infinity();
  const double twice = log_of_one_and((Num(2) * Num(size) / (Num(1) - Num(size))).v);
  return (x < 0 ? -0.5 : 0.5) * twice;
}

STOKER_HD inline double cbrt(double x) {
  if (x == 0 || x != x || x - x != 0) return x;
  const Num size = x < 0 ? -x : x;
  Num root = exp((Num(log(size.v)) / Num(3)).v);
  root = root - (root - size / root / root) / Num(3);  // a step of Newton's
  return x < 0 ? -root.v : root.v;
}

STOKER_HD inline double power(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return detail::not_a_number();
  const double size = x < 0 ? -x : x, most = y < 0 ? -y : y;
  const bool is_whole = std::floor(y) == y;
  const bool is_odd = is_whole && most < 0x1p53 && (static_cast<int64_t>(most) & 1);
  double result = 0;
  if (most == detail::infinity()) {
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? detail::infinity() : 0;
  }
  if (size == 0 || size == detail::infinity()) {
    result = (size == 0) == (y > 0) ? 0 : detail::infinity();
    return is_odd && std::signbit(x) ? -result : result;
  }
  if (x < 0 && !is_whole) return detail::not_a_number();
  if (is_whole && most <= 64) {
    Num product = 1, square = size;
    for (auto n = static_cast<int>(most); n; n >>= 1) {
      if (n & 1) product = product * square;
      square = square * square;
    }
    result = y < 0 ? (Num(1) / product).v : product.v;
  } else {
    result = exp((Num(y) * Num(log(size))).v);
  }
  return x < 0 && is_odd ? -result : result;
}

}  // namespace stoker::exact
