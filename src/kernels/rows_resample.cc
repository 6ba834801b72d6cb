// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Weighted sums of rows and of pixels in float arithmetic.
#include <algorithm>
#include <cstddef>
#include <cstring>

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

#if HWY_TARGET == HWY_SCALAR

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

HWY_EXPORT(SumRowsFloat);
HWY_EXPORT(SumPixelsFloat);

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
