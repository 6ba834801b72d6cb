// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Does what taps_of and quantise do, with one output per lane and the same operations in the same
// order. Unusual outputs are left to fill_row: no position in reach, weights of zero at the ends,
// weights that nearly cancel, a clamped axis that is left.
#include "kernels/resample/tap_rows.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resample/tap_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/resample/exact_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE V Position(V x, V low, V high) {
  return hn::IfThenElse(hn::Gt(x, low), hn::Min(hn::Floor(x), high), low);
}

HWY_INLINE V CubicWeight(V x) {
  const V near = hn::Mul(hn::Mul(hn::Sub(Times(x, 1.5), Set(2.5)), x), x);
  const V far = hn::Mul(hn::Sub(hn::Mul(hn::Add(Times(x, -0.5), Set(2.5)), x), Set(4)), x);
  return hn::IfThenElse(hn::Lt(x, Set(1)), hn::Add(near, Set(1)),
                        hn::IfThenElseZero(hn::Lt(x, Set(2)), hn::Add(far, Set(2))));
}
HWY_INLINE V LanczosWeight(V x) {
  const auto inside = hn::And(hn::Lt(x, Set(3)), hn::Ne(x, hn::Floor(x)));
  const V a = Times(hn::IfThenElse(inside, x, Set(0.5)), 0x1.921fb54442d18p+1);
  const V sines = hn::Mul(Times(ExactSin(a), 3), ExactSin(hn::Div(a, Set(3))));
  const V w = hn::IfThenElseZero(inside, hn::Div(sines, hn::Mul(a, a)));
  return hn::IfThenElse(hn::Eq(x, Set(0)), Set(1), w);
}
HWY_INLINE V GaussianWeight(V x) {
  const auto inside = hn::Le(x, Set(2));
  const V y = hn::IfThenElseZero(inside, x);
  return hn::IfThenElseZero(inside, ExactExp(hn::Neg(hn::Mul(y, y))));
}
HWY_INLINE V TabledGaussianWeight(V x) {
  const V at = Times(x, kGaussianEntries), entry = hn::Floor(at), entries = Set(kGaussianEntries);
  const V low = GaussianWeight(hn::Div(entry, entries));
  const V high = GaussianWeight(hn::Div(hn::Add(entry, Set(1)), entries));
  return hn::Add(low, hn::Mul(hn::Sub(high, low), hn::Sub(at, entry)));
}
template <Filter kFilter, bool kTabled>
HWY_INLINE V Weight(V x) {
  x = hn::Abs(x);
  if constexpr (kTabled) return TabledGaussianWeight(x);
  if constexpr (kFilter == Filter::kCubic) return CubicWeight(x);
  if constexpr (kFilter == Filter::kLanczos3) return LanczosWeight(x);
  if constexpr (kFilter == Filter::kGaussian)
    return hn::IfThenElseZero(hn::Lt(x, Set(2)), GaussianWeight(x));
  return hn::IfThenElseZero(hn::Lt(x, Set(1)), hn::Sub(Set(1), x));
}

// The outputs of one vector. Each takes positions [begin, begin + n), with one vector of weights
// per tap in the scratch. Lanes that are not usual are left to fill_row.
struct VectorTaps {
  V begin, n;
  hn::Mask<D> usual;
};

HWY_INLINE VectorTaps LinearTaps(V c, double extent, double* weights) {
  const V x = hn::Sub(c, Set(0.5)), left = hn::Floor(x), share = hn::Sub(x, left);
  const V begin = Position(left, Set(0), Set(extent - 1));
  const V last = Position(hn::Add(left, Set(1)), Set(0), Set(extent - 1));
  const auto two = hn::And(hn::Gt(last, begin), hn::Ne(share, Set(0)));
  hn::Store(hn::IfThenElse(two, hn::Sub(Set(1), share), Set(1)), D(), weights);
  hn::Store(hn::IfThenElseZero(two, share), D(), weights + hn::Lanes(D()));
  return {begin, hn::IfThenElse(two, Set(2), Set(1)), hn::Eq(c, c)};
}

// The positions that a filter reaches, and of which outputs all of them lie in the input.
struct VectorReach {
  V begin, n;
  hn::Mask<D> inside;
};
HWY_INLINE VectorReach Reach(const ResampleAxis& a, V c, double extent) {
  const V r = Set(a.radius);
  const V low = hn::Add(hn::Sub(c, r), Set(0.5)), high = hn::Add(hn::Add(c, r), Set(0.5));
  const V begin = Position(low, Set(0), Set(extent));
  return {begin, hn::Sub(Position(high, Set(0), Set(extent)), begin),
          hn::And(hn::Ge(low, Set(0)), hn::Lt(high, Set(extent + 1)))};
}
HWY_INLINE VectorReach TabledReach(const ResampleAxis& a, V place, double extent) {
  HWY_ALIGN double o[HWY_MAX_BYTES / 8], begin[HWY_MAX_BYTES / 8], end[HWY_MAX_BYTES / 8];
  hn::Store(place, D(), o);
  for (size_t k = 0; k < hn::Lanes(D()); ++k) {
    const TapInterval r = tabled_reach(a, static_cast<int64_t>(extent), static_cast<int64_t>(o[k]));
    begin[k] = static_cast<double>(r.begin);
    end[k] = static_cast<double>(r.end);
  }
  const V first = hn::Load(D(), begin), last = hn::Load(D(), end);
  return {first, hn::Sub(last, first), hn::And(hn::Ge(first, Set(0)), hn::Le(last, Set(extent)))};
}

template <Filter kFilter, bool kTabled = false>
HWY_INLINE VectorTaps FilterTaps(const ResampleAxis& a, const VectorReach& reach, V c, int64_t most,
                                 double* weights) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  constexpr double kSupport = kFilter == Filter::kLanczos3     ? 3
                              : kFilter == Filter::kTriangular ? 1
                                                               : 2;
  const V scale = Set(kSupport / a.radius), begin = reach.begin, n = reach.n;
  V sum = Set(0), size = sum, last = sum;
  for (int64_t t = 0; t < most; ++t) {
    const V at = Set(static_cast<double>(t));
    const V x = hn::Mul(hn::Add(hn::Sub(hn::Add(begin, at), c), Set(0.5)), scale);
    const V w = hn::IfThenElseZero(hn::Lt(at, n), Weight<kFilter, kTabled>(x));
    hn::Store(w, D(), weights + t * lanes);
    sum = hn::Add(sum, w);
    size = hn::Add(size, hn::Abs(w));
    last = hn::IfThenElse(hn::Lt(at, n), w, last);
  }
  const auto ends = hn::And(hn::Ne(hn::Load(D(), weights), Set(0)), hn::Ne(last, Set(0)));
  const auto sound = hn::And(hn::Gt(sum, Set(0)), hn::Le(size, hn::Mul(Set(2.9), sum)));
  for (int64_t t = 0; t < most; ++t)
    hn::Store(hn::Div(hn::Load(D(), weights + t * lanes), sum), D(), weights + t * lanes);
  auto usual = hn::And(hn::Gt(n, Set(0)), hn::And(ends, sound));
  if (a.clamped) usual = hn::And(usual, reach.inside);
  return {begin, n, usual};
}

// Works in place. Weights behind the last tap become 0.
HWY_INLINE void Quantise(V n, int64_t most, double* weights) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const V one = Set(1 << kTapBits), last = hn::Sub(n, Set(1));
  V sum = Set(0), given = sum;
  for (int64_t t = 0; t < most; ++t, weights += lanes) {
    sum = hn::Add(sum, hn::Load(D(), weights));
    const V rounded = hn::Floor(hn::Add(hn::Mul(sum, one), Set(0.5)));
    const V want = hn::IfThenElse(hn::Lt(Set(static_cast<double>(t)), last), rounded, one);
    hn::Store(hn::Sub(want, given), D(), weights);
    given = want;
  }
}

// The taps of the outputs `place`, whose centres are c.
HWY_INLINE VectorTaps TapsOf(const ResampleAxis& a, V place, V c, double extent, int64_t most,
                             double* weights) {
  if (a.filter == Filter::kLinear) return LinearTaps(c, extent, weights);
  if (is_tabled(a))
    return FilterTaps<Filter::kGaussian, true>(a, TabledReach(a, place, extent), c, most, weights);
  const VectorReach reach = Reach(a, c, extent);
  switch (a.filter) {
    case Filter::kCubic: return FilterTaps<Filter::kCubic>(a, reach, c, most, weights);
    case Filter::kLanczos3: return FilterTaps<Filter::kLanczos3>(a, reach, c, most, weights);
    case Filter::kGaussian: return FilterTaps<Filter::kGaussian>(a, reach, c, most, weights);
    default: return FilterTaps<Filter::kTriangular>(a, reach, c, most, weights);
  }
}

template <class W>
HWY_INLINE void Fill(const ResampleAxis& a, int64_t extent, const TapRows<W>& r) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const int64_t most = r.pitch;
  double* weights = r.scratch;
  HWY_ALIGN double begin[HWY_MAX_BYTES / 8], n[HWY_MAX_BYTES / 8];
  for (int64_t i = 0; i < r.count; i += lanes) {
    const V place =
        hn::Add(Set(static_cast<double>(r.start)),
                hn::Mul(Set(static_cast<double>(r.step)), hn::Iota(D(), static_cast<double>(i))));
    const V c = hn::Add(Set(a.lo), hn::Div(hn::Mul(hn::Add(place, Set(0.5)), Set(a.hi - a.lo)),
                                           Set(static_cast<double>(a.out))));
    const VectorTaps s = TapsOf(a, place, c, static_cast<double>(extent), most, weights);
    if constexpr (std::is_same_v<W, int16_t>) Quantise(s.n, most, weights);
    hn::Store(s.begin, D(), begin);
    hn::Store(hn::IfThenElseZero(s.usual, s.n), D(), n);
    for (int64_t k = 0; k < std::min(lanes, r.count - i); ++k) {
      r.first[i + k] = static_cast<int32_t>(begin[k]);
      r.taps[i + k] = static_cast<int32_t>(n[k]);
      W* row = r.weights + (i + k) * r.pitch;
      if (n[k] != 0)
        for (int64_t t = 0; t < most; ++t) row[t] = static_cast<W>(weights[t * lanes + k]);
    }
    for (int64_t k = 0; k < std::min(lanes, r.count - i); ++k)
      if (n[k] == 0) fill_row(a, extent, r, i + k, weights);
  }
}
void FillFixed(const ResampleAxis& a, int64_t extent, const TapRows<int16_t>& r) {
  Fill(a, extent, r);
}
void FillFloat(const ResampleAxis& a, int64_t extent, const TapRows<float>& r) {
  Fill(a, extent, r);
}
void FillDouble(const ResampleAxis& a, int64_t extent, const TapRows<double>& r) {
  Fill(a, extent, r);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {

HWY_EXPORT(FillFixed);
HWY_EXPORT(FillFloat);
HWY_EXPORT(FillDouble);

void fill_rows(const ResampleAxis& a, int64_t extent, const TapRows<int16_t>& r) {
  HWY_DYNAMIC_DISPATCH(FillFixed)(a, extent, r);
}
void fill_rows(const ResampleAxis& a, int64_t extent, const TapRows<float>& r) {
  HWY_DYNAMIC_DISPATCH(FillFloat)(a, extent, r);
}
void fill_rows(const ResampleAxis& a, int64_t extent, const TapRows<double>& r) {
  HWY_DYNAMIC_DISPATCH(FillDouble)(a, extent, r);
}

}  // namespace stoker
#endif
