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

void SumRowsFixed(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
                  int16_t* out) {
  SumRowsPlainly(first, stride, weights, taps, n, out);
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

// Sums of one pair of rows' products for each of 16 columns of a block: columns 0, 2, 4, 6 and 1, 3,
// 5, 7, then the other eight.
struct Columns {
  using D16 = hn::ScalableTag<int16_t>;
  using D32 = hn::RepartitionToWide<D16>;
  using D8 = hn::Repartition<uint8_t, D16>;
  using V16 = hn::Vec<D16>;
  using V32 = hn::Vec<D32>;
  V32 sum[4], other[4];  // where the CPU adds other products together, `other` keeps them

  HWY_INLINE Columns() {
    for (int i = 0; i < 4; ++i) {
      sum[i] = hn::Set(D32(), 1 << 7);
      other[i] = hn::Zero(D32());
    }
  }
  HWY_INLINE void Add(const uint8_t* upper, const uint8_t* lower, V16 weights) {
    const auto a = hn::BitCast(D16(), hn::LoadU(D8(), upper));
    const auto b = hn::BitCast(D16(), hn::LoadU(D8(), lower));
    AddHalf(hn::InterleaveLower(D16(), a, b), weights, 0);
    AddHalf(hn::InterleaveUpper(D16(), a, b), weights, 2);
  }
  // Two bytes of the upper row next to two of the lower one.
  HWY_INLINE void AddHalf(V16 bytes, V16 weights, int i) {
    const hn::RebindToUnsigned<D16> du;
    const V16 odd = hn::BitCast(D16(), hn::ShiftRight<8>(hn::BitCast(du, bytes)));
    AddProducts(hn::And(bytes, hn::Set(D16(), 0xff)), weights, i);
    AddProducts(odd, weights, i + 1);
  }
  HWY_INLINE void AddProducts(V16 values, V16 weights, int i) {
    sum[i] = hn::ReorderWidenMulAccumulate(D32(), values, weights, sum[i], other[i]);
  }
  HWY_INLINE V16 Half(int i) const {
    const auto even = hn::ShiftRight<8>(hn::RearrangeToOddPlusEven(sum[i], other[i]));
    const auto odd = hn::ShiftRight<8>(hn::RearrangeToOddPlusEven(sum[i + 1], other[i + 1]));
    return hn::ReorderDemote2To(D16(), even, odd);  // in each block, first those of `even`
  }
  HWY_INLINE void Store(int16_t* out) const {
    const auto lanes = static_cast<int64_t>(hn::Lanes(D16()));
#if HWY_TARGET == HWY_AVX3
    HWY_ALIGN static constexpr uint16_t kOrder[32] = {0,  4,  1,  5,  2,  6,  3,  7,  32, 36, 33,
                                                      37, 34, 38, 35, 39, 8,  12, 9,  13, 10, 14,
                                                      11, 15, 40, 44, 41, 45, 42, 46, 43, 47};
    const __m512i low = Half(0).raw, high = Half(2).raw, order = _mm512_load_si512(kOrder);
    const __m512i rest = _mm512_add_epi16(order, _mm512_set1_epi16(16));
    _mm512_storeu_si512(out, _mm512_permutex2var_epi16(low, order, high));
    _mm512_storeu_si512(out + lanes, _mm512_permutex2var_epi16(low, rest, high));
#else
    HWY_ALIGN static constexpr uint8_t kOrder[16] = {0, 1, 8,  9,  2, 3, 10, 11,
                                                     4, 5, 12, 13, 6, 7, 14, 15};
    const auto order = hn::LoadDup128(D8(), kOrder);
    const V16 low = hn::TableLookupBytes(Half(0), hn::BitCast(D16(), order));
    const V16 high = hn::TableLookupBytes(Half(2), hn::BitCast(D16(), order));
#if HWY_TARGET == HWY_AVX2
    hn::StoreU(hn::ConcatLowerLower(D16(), high, low), D16(), out);
    hn::StoreU(hn::ConcatUpperUpper(D16(), high, low), D16(), out + lanes);
#else
    hn::StoreU(low, D16(), out);
    hn::StoreU(high, D16(), out + lanes);
#endif
#endif
  }
};

// As many columns as a vector has bytes.
HWY_INLINE void SumColumns(const uint8_t* first, int64_t stride, const int16_t* weights, int taps,
                           int16_t* out) {
  Columns columns;
  for (int t = 0; t < taps; t += 2) {
    const uint8_t* upper = first + t * stride;
    int32_t pair;
    std::memcpy(&pair, weights + t, sizeof pair);
    columns.Add(upper, t + 1 < taps ? upper + stride : upper,  // else its weight is 0
                hn::BitCast(Columns::D16(), hn::Set(Columns::D32(), pair)));
  }
  columns.Store(out);
}

void SumRowsFixed(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
                  int16_t* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Columns::D8()));
  if (n < lanes) return SumRowsPlainly(first, stride, weights, taps, n, out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) SumColumns(first + i, stride, weights, taps, out + i);
  if (i < n)
    SumColumns(first + n - lanes, stride, weights, taps, out + n - lanes);  // some a second time
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

HWY_EXPORT(SumRowsFixed);
HWY_EXPORT(SumRowsFloat);
HWY_EXPORT(SumPixelsFloat);

void sum_rows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
              int16_t* out) {
  HWY_DYNAMIC_DISPATCH(SumRowsFixed)(first, stride, weights, taps, n, out);
}
void sum_rows(const void* first, DType type, int64_t stride, const float* weights, int taps,
              int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumRowsFloat)(first, type, stride, weights, taps, n, out);
}
void sum_pixels(const float* row, const PixelTaps& taps, float* quads) {
  HWY_DYNAMIC_DISPATCH(SumPixelsFloat)(row, taps, quads);
}

PixelTaps pixel_taps(const TapTable<float>& t, int channels, Arena& arena) {
  auto* first = arena.array<int32_t>(static_cast<size_t>(t.count));
  for (int64_t o = 0; o < t.count; ++o)
    first[o] = static_cast<int32_t>((t.first[o] - t.begin) * channels);
  return {t.count, channels, first, t.taps, t.weights, t.pitch};
}

}  // namespace stoker::rows
#endif
