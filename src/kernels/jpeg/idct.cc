// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/idct.h"

#include "kernels/jpeg/arithmetic.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/idct.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pairs_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
bool TransformBlock(const int16_t* group, const uint16_t* quanta, uint8_t* out, int64_t stride) {
  int32_t v[64];
  for (int k = 0; k < 64; ++k)
    v[k] = static_cast<int16_t>(group[k / 8 * 32 + k % 8] * static_cast<int32_t>(quanta[k]));
  for (int k = 0; k < 8; ++k) from_waves<11>(v + k, 8);
  for (int32_t value : v)
    if (value < -kMostBetween || value > kMostBetween) return false;
  for (int k = 0; k < 8; ++k) from_waves<18>(v + 8 * k, 1);
  for (int k = 0; k < 64; ++k) out[k / 8 * stride + k % 8] = byte_of(v[k] + 128);
  return true;
}
bool TransformGroups(const int16_t* groups, int64_t count, const uint16_t* quanta, uint8_t* out,
                     int64_t stride) {
  for (int64_t b = 0; b < kBlocksInGroup * count; ++b) {
    const int16_t* group = groups + b / kBlocksInGroup * kGroupSize;
    if (!TransformBlock(group + 8 * (b % kBlocksInGroup), quanta, out + 8 * b, stride))
      return false;
  }
  return true;
}
#else
using pairs::HWY_NAMESPACE::Bytes;
using pairs::HWY_NAMESPACE::Longs;
using pairs::HWY_NAMESPACE::PackBytes;
using pairs::HWY_NAMESPACE::SetPairs;
using pairs::HWY_NAMESPACE::SumPairs;
using pairs::HWY_NAMESPACE::Words;
using Row = hn::Vec<Words>;  // of as many blocks as fit

// from_waves() of rows to half of the columns, before they are narrowed. A pair holds a value of
// each of two rows. kRounds: whether results are rounded or cut off.
template <int kShift, bool kRounds, class Interleave>
HWY_INLINE void TransformHalf(const Row (&v)[8], const Interleave& pair, hn::Vec<Longs> (&out)[8]) {
  const Row v04 = pair(v[0], v[4]), v26 = pair(v[2], v[6]);
  const Row v13 = pair(v[1], v[3]), v57 = pair(v[5], v[7]);
  auto sum = SumPairs(v04, SetPairs(8192, 8192)), difference = SumPairs(v04, SetPairs(8192, -8192));
  if (kRounds) {
    const auto half = hn::Set(Longs(), 1 << (kShift - 1));
    sum = hn::Add(sum, half), difference = hn::Add(difference, half);
  }
  const auto c = SumPairs(v26, SetPairs(4433, -10704)), d = SumPairs(v26, SetPairs(10703, 4433));
  const hn::Vec<Longs> even[4] = {hn::Add(sum, d), hn::Add(difference, c), hn::Sub(difference, c),
                                  hn::Sub(sum, d)};
  const hn::Vec<Longs> odd[4] = {SumPairs(v13, SetPairs(11363, 9633), v57, SetPairs(6437, 2260)),
                                 SumPairs(v13, SetPairs(9633, -2259), v57, SetPairs(-11362, -6436)),
                                 SumPairs(v13, SetPairs(6437, -11362), v57, SetPairs(2261, 9633)),
                                 SumPairs(v13, SetPairs(2260, -6436), v57, SetPairs(9633, -11363))};
  for (int k = 0; k < 4; ++k) {
    out[k] = hn::ShiftRight<kShift>(hn::Add(even[k], odd[k]));
    out[7 - k] = hn::ShiftRight<kShift>(hn::Sub(even[k], odd[k]));
  }
}
template <int kShift, bool kRounds>
HWY_INLINE void TransformColumns(Row (&v)[8]) {
  hn::Vec<Longs> low[8], high[8];
  TransformHalf<kShift, kRounds>(
      v, [](Row a, Row b) HWY_ATTR { return hn::InterleaveLower(Words(), a, b); }, low);
  TransformHalf<kShift, kRounds>(
      v, [](Row a, Row b) HWY_ATTR { return hn::InterleaveUpper(Words(), a, b); }, high);
  for (int k = 0; k < 8; ++k) v[k] = hn::ReorderDemote2To(Words(), low[k], high[k]);
}

// One of the rounds that make columns of rows: three for eight vectors.
template <class D, int kCount>
HWY_INLINE void Interleave(D d, hn::Vec<D> (&v)[kCount]) {
  hn::Vec<D> w[kCount];
  for (int i = 0; i < kCount / 2; ++i) {
    w[2 * i] = hn::InterleaveLower(d, v[i], v[i + kCount / 2]);
    w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kCount / 2]);
  }
  for (int i = 0; i < kCount; ++i) v[i] = w[i];
}

// Stores eight rows, of which it gets the columns of each block.
HWY_INLINE void StoreColumns(const Row (&v)[8], uint8_t* out, int64_t stride) {
  using Eights = hn::Repartition<uint64_t, Bytes>;
  const hn::Half<Bytes> half;
  hn::Vec<Bytes> bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = PackBytes(v[2 * i], v[2 * i + 1]);
  for (int round = 0; round < 3; ++round) Interleave(Bytes(), bytes);
  // Two rows in each block of 128 bits: 0 and 1, then 2 and 3, and so on.
  for (int i = 0; i < 4; i += 2) {
    const auto a = hn::BitCast(Eights(), bytes[i]), b = hn::BitCast(Eights(), bytes[i + 1]);
    const auto even = hn::BitCast(Bytes(), hn::ConcatEven(Eights(), b, a)),
               odd = hn::BitCast(Bytes(), hn::ConcatOdd(Eights(), b, a));
    uint8_t* to = out + 2 * i * stride;
    hn::StoreU(hn::LowerHalf(half, even), half, to);
    hn::StoreU(hn::LowerHalf(half, odd), half, to + stride);
    hn::StoreU(hn::UpperHalf(half, even), half, to + 2 * stride);
    hn::StoreU(hn::UpperHalf(half, odd), half, to + 3 * stride);
  }
}

struct Extremes {
  Row low, high;

  HWY_INLINE Extremes() : low(hn::Zero(Words())), high(low) {}
  HWY_INLINE void add(const Row (&v)[8]) {
    for (int k = 0; k < 8; ++k) low = hn::Min(low, v[k]), high = hn::Max(high, v[k]);
  }
  HWY_INLINE bool are_in_range() const {
    const Row most = hn::Set(Words(), static_cast<int16_t>(kMostBetween));
    return hn::AllFalse(Words(), hn::Or(hn::Gt(high, most), hn::Lt(low, hn::Neg(most))));
  }
};

HWY_INLINE void TransformGroup(const int16_t* group, const uint16_t* quanta, uint8_t* out,
                               int64_t stride, Extremes& extremes) {
  const hn::RebindToUnsigned<Words> unsigned_words;
  for (size_t at = 0; at < 8 * kBlocksInGroup; at += hn::Lanes(Words())) {
    Row v[8];
    for (int k = 0; k < 8; ++k) {
      const auto row = hn::LoadDup128(unsigned_words, quanta + 8 * k);
      v[k] = hn::Mul(hn::Load(Words(), group + 32 * k + at), hn::BitCast(Words(), row));
    }
    TransformColumns<11, true>(v);
    extremes.add(v);
    for (int round = 0; round < 3; ++round) Interleave(Words(), v);
    // Half of the last place, and the middle of the bytes, which is 0 in the transform.
    v[0] = hn::Add(v[0], hn::Set(Words(), ((1 << 17) + (128 << 18)) / 8192));
    TransformColumns<18, false>(v);
    StoreColumns(v, out + at, stride);
  }
}
bool TransformGroups(const int16_t* groups, int64_t count, const uint16_t* quanta, uint8_t* out,
                     int64_t stride) {
  Extremes extremes;
  for (int64_t g = 0; g < count; ++g)
    TransformGroup(groups + g * kGroupSize, quanta, out + g * 8 * kBlocksInGroup, stride, extremes);
  return extremes.are_in_range();
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

HWY_EXPORT(TransformGroups);

bool inverse_transform(const int16_t* groups, int64_t count, const uint16_t* quanta, uint8_t* out,
                       int64_t stride) {
  return HWY_DYNAMIC_DISPATCH(TransformGroups)(groups, count, quanta, out, stride);
}

}  // namespace stoker::jpeg
#endif
