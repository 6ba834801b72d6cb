// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Weighted sums of rows and of pixels.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/fixed_point.h"
#include "kernels/rows.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows_resample.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void SumRowsPlainly(const uint8_t* first, int64_t stride, const int16_t* weights, int taps,
                    int64_t n, int16_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    int32_t sum = 0;
    for (int t = 0; t < taps; ++t) sum += weights[t] * first[t * stride + i];
    out[i] = fixed_between_u8(sum);
  }
}

#if HWY_TARGET == HWY_SCALAR

int64_t Blocks() { return 1; }

void SumRowsFixed(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
                  int16_t* out) {
  SumRowsPlainly(first, stride, weights, taps, n, out);
}

void SumPixelsFixed(const int16_t* row, const PixelTaps& taps, uint8_t* quads) {
  for (int64_t o = 0; o < taps.count; ++o) {
    const int16_t* weights = taps.fixed + o / 2 * taps.pairs * 16 + o % 2 * 8;
    for (int c = 0; c < taps.channels; ++c) {
      const int16_t* p = row + taps.first[o] + c;
      int32_t sum = 0;
      for (int t = 0; t < taps.taps[o]; ++t)
        sum += weights[t / 2 * 16 + t % 2] * p[t * taps.channels];
      quads[4 * o + c] = fixed_result(sum);
    }
  }
}

void SumPixelsFloat(const float* row, const PixelTaps& taps, float* quads) {
  for (int64_t o = 0; o < taps.count; ++o) {
    const float* weights = taps.weights + o * taps.pitch;
    for (int c = 0; c < taps.channels; ++c) {
      const float* p = row + taps.first[o] + c;
      float sum = weights[0] * p[0];
      for (int t = 1; t < taps.taps[o]; ++t) sum = sum + weights[t] * p[t * taps.channels];
      quads[4 * o + c] = sum;
    }
  }
}

#else

// Sums of two products next to each other, added to `sum`.
template <class D32, class V16, class V32>
HWY_INLINE V32 AddPairs(D32 d, V16 a, V16 b, V32 sum) {
  V32 other = hn::Zero(d);
  sum = hn::ReorderWidenMulAccumulate(d, a, b, sum, other);
  return hn::RearrangeToOddPlusEven(sum, other);
}

// kVectors vectors of values from column i on: rows in pairs, each value next to that of the row
// below.
template <int kVectors>
HWY_INLINE void SumColumns(const uint8_t* first, int64_t stride, const int16_t* weights, int taps,
                           int16_t* out) {
  const hn::ScalableTag<int16_t> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d16));
  hn::Vec<decltype(d32)> low[kVectors], high[kVectors];
  for (int v = 0; v < kVectors; ++v) low[v] = high[v] = hn::Set(d32, 1 << 7);
  for (int t = 0; t < taps; t += 2) {
    const uint8_t* upper = first + t * stride;
    const uint8_t* lower = t + 1 < taps ? upper + stride : upper;  // its weight is 0
    int32_t pair;
    std::memcpy(&pair, weights + t, sizeof pair);
    const auto w = hn::BitCast(d16, hn::Set(d32, pair));
    for (int v = 0; v < kVectors; ++v) {
      const auto a = hn::PromoteTo(d16, hn::LoadU(d8, upper + v * lanes));
      const auto b = hn::PromoteTo(d16, hn::LoadU(d8, lower + v * lanes));
      low[v] = AddPairs(d32, hn::InterleaveLower(d16, a, b), w, low[v]);
      high[v] = AddPairs(d32, hn::InterleaveUpper(d16, a, b), w, high[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v)
    hn::StoreU(hn::ReorderDemote2To(d16, hn::ShiftRight<8>(low[v]), hn::ShiftRight<8>(high[v])),
               d16, out + v * lanes);
}

void SumRowsFixed(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
                  int16_t* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<int16_t>()));
  if (n < lanes) return SumRowsPlainly(first, stride, weights, taps, n, out);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes)
    SumColumns<2>(first + i, stride, weights, taps, out + i);
  for (; i + lanes <= n; i += lanes) SumColumns<1>(first + i, stride, weights, taps, out + i);
  if (i < n)
    SumColumns<1>(first + n - lanes, stride, weights, taps, out + n - lanes);  // some a second time
}

// Pixels are worked on in blocks of 128 bits, two to a vector where vectors are longer. A group of
// outputs is two vectors: block b of vector v is output 2 b + v, so that narrowing both together
// brings them in order.
using D16 = hn::CappedTag<int16_t, 16>;
using D32 = hn::RepartitionToWide<D16>;
using D8 = hn::Repartition<uint8_t, D16>;
int64_t Blocks() { return static_cast<int64_t>(hn::Lanes(D16())) / 8; }

HWY_INLINE hn::Vec<D16> LoadBlocks(const int16_t* row, const int32_t* first) {
  const hn::Full128<int16_t> block;
  const auto low = hn::LoadU(block, row + first[0]);
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
  return low;
#else
  return hn::Combine(D16(), hn::LoadU(block, row + first[2]), low);
#endif
}

// Puts the two pixels of a block as pairs: channel c of both into 32-bit lane c. What lies behind
// the last channel is 0.
HWY_INLINE hn::Vec<D8> PairTable(int channels) {
  HWY_ALIGN uint8_t index[32];
  for (int i = 0; i < 32; ++i) {
    const int c = i % 16 / 4, pixel = i % 4 / 2, byte = i % 2;
    index[i] = static_cast<uint8_t>(c < channels ? 2 * (pixel * channels + c) + byte : 0x80);
  }
  return hn::Load(D8(), index);
}

HWY_INLINE hn::Vec<D32> AddPixels(const int16_t* row, const int32_t* first, hn::Vec<D8> table,
                                  const int16_t* weights, hn::Vec<D32> sum) {
  const auto paired = hn::TableLookupBytesOr0(hn::BitCast(D8(), LoadBlocks(row, first)), table);
  return AddPairs(D32(), hn::BitCast(D16(), paired), hn::Load(D16(), weights), sum);
}

// kPairs: how many pairs of taps there are, 0 for any number.
template <int kPairs>
HWY_INLINE void SumGroups(const int16_t* row, const PixelTaps& taps, uint8_t* quads) {
  const hn::Rebind<uint8_t, D16> narrow;
  const auto table = PairTable(taps.channels);
  const int64_t pairs = kPairs ? kPairs : taps.pairs, vector = Blocks() * 8,
                step = 2 * taps.channels;
  const int16_t* weights = taps.fixed;
  for (int64_t o = 0; o < taps.count; o += 2 * Blocks()) {
    auto even = hn::Set(D32(), 1 << 19), odd = even;
    for (int64_t p = 0; p < pairs; ++p, weights += 2 * vector) {
      even = AddPixels(row + p * step, taps.first + o, table, weights, even);
      odd = AddPixels(row + p * step, taps.first + o + 1, table, weights + vector, odd);
    }
    const auto both =
        hn::ReorderDemote2To(D16(), hn::ShiftRight<20>(even), hn::ShiftRight<20>(odd));
    hn::StoreU(hn::DemoteTo(narrow, both), narrow, quads + 4 * o);
  }
}

void SumPixelsFixed(const int16_t* row, const PixelTaps& taps, uint8_t* quads) {
  switch (taps.pairs) {
    case 1: return SumGroups<1>(row, taps, quads);
    case 2: return SumGroups<2>(row, taps, quads);
    case 3: return SumGroups<3>(row, taps, quads);
    case 4: return SumGroups<4>(row, taps, quads);
    default: return SumGroups<0>(row, taps, quads);
  }
}

void SumPixelsFloat(const float* row, const PixelTaps& taps, float* quads) {
  const hn::Full128<float> d;
  for (int64_t o = 0; o < taps.count; ++o) {
    const float* weights = taps.weights + o * taps.pitch;
    const float* p = row + taps.first[o];
    auto sum = hn::Mul(hn::Set(d, weights[0]), hn::LoadU(d, p));
    for (int t = 1; t < taps.taps[o]; ++t)
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[t]), hn::LoadU(d, p + t * taps.channels)));
    hn::StoreU(sum, d, quads + 4 * o);
  }
}

#endif

HWY_INLINE F SumColumnsFloat(const uint8_t* first, DType type, int64_t stride, const float* weights,
                             int taps) {
  F sum = hn::Mul(hn::Set(df, weights[0]), Load(type, first));
  for (int t = 1; t < taps; ++t)
    sum = hn::Add(sum, hn::Mul(hn::Set(df, weights[t]), Load(type, first + t * stride)));
  return sum;
}

void SumRowsFloat(const void* first, DType type, int64_t stride, const float* weights, int taps,
                  int64_t n, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  auto* from = static_cast<const uint8_t*>(first);
  const int64_t size = size_of(type);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(SumColumnsFloat(from + i * size, type, stride, weights, taps), df, out + i);
  for (; i < n; ++i) {
    float sum = 0;
    for (int t = 0; t < taps; ++t) {
      float v;
      convert_row(from + t * stride + i * size, type, &v, DType::kFloat32, 1);
      sum = t ? sum + weights[t] * v : weights[t] * v;
    }
    out[i] = sum;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {

HWY_EXPORT(Blocks);
HWY_EXPORT(SumRowsFixed);
HWY_EXPORT(SumRowsFloat);
HWY_EXPORT(SumPixelsFixed);
HWY_EXPORT(SumPixelsFloat);

void sum_rows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
              int16_t* out) {
  HWY_DYNAMIC_DISPATCH(SumRowsFixed)(first, stride, weights, taps, n, out);
}
void sum_rows(const void* first, DType type, int64_t stride, const float* weights, int taps,
              int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumRowsFloat)(first, type, stride, weights, taps, n, out);
}
void sum_pixels(const int16_t* row, const PixelTaps& taps, uint8_t* quads) {
  HWY_DYNAMIC_DISPATCH(SumPixelsFixed)(row, taps, quads);
}
void sum_pixels(const float* row, const PixelTaps& taps, float* quads) {
  HWY_DYNAMIC_DISPATCH(SumPixelsFloat)(row, taps, quads);
}

namespace {

// Up to a whole number of groups; the outputs that this adds are never looked at.
const int32_t* value_offsets(const int32_t* first, int64_t begin, int64_t count, int64_t padded,
                             int channels, Arena& arena) {
  auto* offsets = arena.array<int32_t>(static_cast<size_t>(padded));
  for (int64_t i = 0; i < padded; ++i)
    offsets[i] = static_cast<int32_t>((first[std::min(i, count - 1)] - begin) * channels);
  return offsets;
}

}  // namespace

// Weights of a group of outputs (see SumGroups): for each pair of taps and each output of the
// group, the pair four times.
PixelTaps pixel_taps(const TapTable<int16_t>& t, int channels, Arena& arena) {
  const int64_t blocks = HWY_DYNAMIC_DISPATCH(Blocks)(), group = 2 * blocks;
  const int64_t pairs = (*std::max_element(t.taps, t.taps + t.count) + 1) / 2,
                padded = (t.count + group - 1) / group * group;
  auto* weights = arena.array<int16_t>(static_cast<size_t>(padded * pairs * 8));
  for (int64_t o = 0; o < padded; ++o) {
    const int16_t* from = t.row(std::min(o, t.count - 1));
    int16_t* to = weights + (o / group * pairs * group + o % 2 * blocks + o % group / 2) * 8;
    for (int64_t p = 0; p < pairs; ++p, to += group * 8)
      for (int i = 0; i < 8; ++i) to[i] = from[2 * p + i % 2];
  }
  return {
      t.count, pairs,   channels, value_offsets(t.first, t.begin, t.count, padded, channels, arena),
      t.taps,  weights, nullptr,  0};
}

PixelTaps pixel_taps(const TapTable<float>& t, int channels, Arena& arena) {
  return {t.count,   0,
          channels,  value_offsets(t.first, t.begin, t.count, t.count, channels, arena),
          t.taps,    nullptr,
          t.weights, t.pitch};
}

}  // namespace stoker::rows
#endif
