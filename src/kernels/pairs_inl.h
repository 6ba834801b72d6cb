// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations on vectors of words that Highway lacks. Compiled for each target, as Highway's -inl
// files are; not for SCALAR, which has no pairs.
#include <cstdint>
#include <cstring>

#if defined(STOKER_PAIRS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_PAIRS_INL_H
#undef STOKER_PAIRS_INL_H
#else
#define STOKER_PAIRS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::pairs {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using Bytes = hn::ScalableTag<uint8_t>;
using Words = hn::Repartition<int16_t, Bytes>;
using Longs = hn::Repartition<int32_t, Bytes>;

// The same two words in each pair.
HWY_INLINE hn::Vec<Words> SetPairs(int16_t first, int16_t second) {
  const int16_t both[2] = {first, second};
  int32_t pair;
  std::memcpy(&pair, both, sizeof pair);
  return hn::BitCast(Words(), hn::Set(Longs(), pair));
}

// Of each pair, v[0] * weights[0] + v[1] * weights[1].
HWY_INLINE hn::Vec<Longs> SumPairs(hn::Vec<Words> v, hn::Vec<Words> weights) {
  auto rest = hn::Zero(Longs());
  const auto sum = hn::ReorderWidenMulAccumulate(Longs(), v, weights, rest, rest);
  return hn::RearrangeToOddPlusEven(sum, rest);
}
HWY_INLINE hn::Vec<Longs> SumPairs(hn::Vec<Words> v, hn::Vec<Words> v_weights, hn::Vec<Words> w,
                                   hn::Vec<Words> w_weights) {
  auto rest = hn::Zero(Longs());
  auto sum = hn::ReorderWidenMulAccumulate(Longs(), v, v_weights, rest, rest);
  sum = hn::ReorderWidenMulAccumulate(Longs(), w, w_weights, sum, rest);
  return hn::RearrangeToOddPlusEven(sum, rest);
}

// Clamped to bytes: in each block of 128 bits those of `a`, then those of `b`.
HWY_INLINE hn::Vec<Bytes> PackBytes(hn::Vec<Words> a, hn::Vec<Words> b) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<Bytes>{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<Bytes>{_mm256_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<Bytes> half;
  return hn::Combine(Bytes(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::pairs
HWY_AFTER_NAMESPACE();

#endif
