// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// exp and sin of base/exact_math.h for every lane of a vector, with the same operations in the same
// order, hence the same bits. Compiled for each target, as Highway's -inl files are.
#if defined(STOKER_EXACT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_EXACT_INL_H
#undef STOKER_EXACT_INL_H
#else
#define STOKER_EXACT_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
HWY_INLINE V Set(double v) { return hn::Set(D(), v); }
HWY_INLINE V Times(V a, double b) { return hn::Mul(a, Set(b)); }

template <int N>
HWY_INLINE V Polynomial(V z, const double (&c)[N]) {
  V sum = Set(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = hn::Add(hn::Mul(sum, z), Set(c[i]));
  return sum;
}
HWY_INLINE V RoundAway(V x, V sign) { return hn::Trunc(hn::Add(x, hn::CopySign(Set(0.5), sign))); }

// Requires: every e is a whole number between -1022 and 1023.
HWY_INLINE V PowerOfTwo(V e) {
  const hn::RebindToUnsigned<D> du;
  const V low_bits = hn::Add(e, Set(1023 + 0x1p52));  // e + 1023 in the lowest bits
  return hn::BitCast(D(), hn::ShiftLeft<52>(hn::BitCast(du, low_bits)));
}

// Requires: -700 < x <= 0.
HWY_INLINE V ExactExp(V x) {
  constexpr double c[] = {1. / 2,       1. / 6,        1. / 24,        1. / 120,
                          1. / 720,     1. / 5040,     1. / 40320,     1. / 362880,
                          1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
  const V n = RoundAway(Times(x, 0x1.71547652b82fep+0), x);
  const V high = hn::Sub(x, Times(n, 0x1.62e42feep-1)), low = Times(n, 0x1.a39ef35793c76p-33);
  const V r = hn::Sub(high, low), lost = hn::Sub(hn::Sub(high, r), low);
  const V rest = hn::Add(hn::Mul(hn::Mul(r, r), Polynomial(r, c)), hn::Add(lost, hn::Mul(lost, r)));
  const V e = hn::Add(Set(1), hn::Add(r, rest)), half = hn::Trunc(Times(n, 0.5));
  return hn::Mul(hn::Mul(e, PowerOfTwo(half)), PowerOfTwo(hn::Sub(n, half)));
}

HWY_INLINE V SinNearZero(V r, V low) {
  constexpr double c[] = {
      -1. / 6,        1. / 120,        -1. / 5040,          1. / 362880,
      -1. / 39916800, 1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000};
  const V z = hn::Mul(r, r);
  return hn::Add(r, hn::Add(hn::Mul(hn::Mul(z, r), Polynomial(z, c)),
                            hn::Mul(low, hn::Sub(Set(1), Times(z, 0.5)))));
}
HWY_INLINE V CosNearZero(V r, V low) {
  constexpr double c[] = {1. / 24,        -1. / 720,         1. / 40320,         -1. / 3628800,
                          1. / 479001600, -1. / 87178291200, 1. / 20922789888000};
  const V z = hn::Mul(r, r), half = Times(z, 0.5), w = hn::Sub(Set(1), half);
  const V rest = hn::Sub(hn::Mul(hn::Mul(z, z), Polynomial(z, c)), hn::Mul(r, low));
  return hn::Add(w, hn::Add(hn::Sub(hn::Sub(Set(1), w), half), rest));
}

// Requires: 0 < x <= kMaxAngle.
HWY_INLINE V ExactSin(V x) {
  const V n = RoundAway(Times(x, 0x1.45f306dc9c883p-1), x);
  const V a = hn::Sub(x, Times(n, 0x1.921fb54p+0)), p = Times(n, 0x1.10b461p-30);
  const V b = hn::Sub(a, p), ab = hn::Sub(a, b);
  const V lost_b = hn::Add(hn::Sub(a, hn::Add(b, ab)), hn::Sub(ab, p));
  const V q = Times(n, 0x1.a62633p-58), c = hn::Sub(b, q), bc = hn::Sub(b, c);
  const V lost_c = hn::Add(hn::Sub(b, hn::Add(c, bc)), hn::Sub(bc, q));
  const V rest = hn::Sub(hn::Add(lost_b, lost_c), Times(n, 0x1.45c06e0e68948p-86));
  const V high = hn::Add(c, rest), low = hn::Sub(rest, hn::Sub(high, c));
  const V quadrant = hn::Sub(n, Times(hn::Floor(Times(n, 0.25)), 4));
  const auto odd = hn::Or(hn::Eq(quadrant, Set(1)), hn::Eq(quadrant, Set(3)));
  const V y = hn::IfThenElse(odd, CosNearZero(high, low), SinNearZero(high, low));
  return hn::IfThenElse(hn::Ge(quadrant, Set(2)), hn::Neg(y), y);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
