// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Weighted sums of rows and of pixels in floating point.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/rows/rows.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rows_resample.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void SumPixelsFloat(const float* row, const PixelTaps& taps, float* quads) {
  for (int64_t o = 0; o < taps.count; ++o) {
    const float* weights = taps.weights + o * taps.most * 4;
    for (int c = 0; c < taps.channels; ++c) {
      const float* p = row + taps.first[o] + c;
      float sum = weights[0] * p[0];
      for (int t = 1; t < static_cast<int>(taps.taps[4 * o]); ++t)
        sum = sum + weights[4 * t] * p[t * taps.channels];
      quads[4 * o + c] = sum;
    }
  }
}

#else

// Loads a pixel of four values into each block.
HWY_INLINE F LoadPixels(const float* row, const int32_t* first) {
  const hn::Full128<float> block;
  const auto a = hn::LoadU(block, row + first[0]);
#if HWY_TARGET <= HWY_AVX3
  const hn::Full256<float> half;
  const auto b = hn::LoadU(block, row + first[1]), c = hn::LoadU(block, row + first[2]),
             d = hn::LoadU(block, row + first[3]);
  return hn::Combine(df, hn::Combine(half, d, c), hn::Combine(half, b, a));
#elif HWY_TARGET == HWY_AVX2
  return hn::Combine(df, hn::LoadU(block, row + first[1]), a);
#else
  return a;
#endif
}

// Where a result has fewer taps than others, -0 is added instead, which changes no number.
void SumPixelsFloat(const float* row, const PixelTaps& taps, float* quads) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const float* weights = taps.weights;
  for (int64_t o = 0; o < taps.count; o += lanes / 4, quads += lanes) {
    const F count = hn::Load(df, taps.taps + 4 * o);
    F sum = hn::Mul(hn::Load(df, weights), LoadPixels(row, taps.first + o));
    weights += lanes;
    for (int t = 1; t < taps.most; ++t, weights += lanes) {
      const F v =
          hn::Mul(hn::Load(df, weights), LoadPixels(row + t * taps.channels, taps.first + o));
      const auto has = hn::Lt(hn::Set(df, static_cast<float>(t)), count);
      sum = hn::Add(sum, hn::IfThenElse(has, v, hn::Set(df, -0.0f)));
    }
    hn::StoreU(sum, df, quads);
  }
}

#endif

int64_t PixelsAtOnce() { return std::max<int64_t>(1, static_cast<int64_t>(hn::Lanes(df)) / 4); }

template <class Type>
HWY_INLINE void SumColumnsFloat(Type type, const uint8_t* first, int64_t stride,
                                const float* weights, int taps, float* out) {
  F sum = hn::Mul(hn::Set(df, weights[0]), Load(type, first));
  for (int t = 1; t < taps; ++t)
    sum = hn::Add(sum, hn::Mul(hn::Set(df, weights[t]), Load(type, first + t * stride)));
  hn::StoreU(sum, df, out);
}

void SumFewColumns(const uint8_t* from, DType type, int64_t stride, const float* weights, int taps,
                   int64_t n, float* out) {
  const int64_t size = size_of(type);
  for (int64_t i = 0; i < n; ++i)
    for (int t = 0; t < taps; ++t) {
      float v;
      convert_row(from + t * stride + i * size, type, &v, DType::kFloat32, 1);
      out[i] = t ? out[i] + weights[t] * v : weights[t] * v;
    }
}

void SumRowsFloat(const void* first, DType t, int64_t stride, const float* weights, int taps,
                  int64_t n, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  auto* from = static_cast<const uint8_t*>(first);
  if (n < lanes) return SumFewColumns(from, t, stride, weights, taps, n, out);
  OnType(t, [&](auto type) HWY_ATTR {
    const int64_t size = size_of(type);
    for (int64_t i = 0; i + lanes <= n; i += lanes)
      SumColumnsFloat(type, from + i * size, stride, weights, taps, out + i);
    const int64_t last = n - lanes;  // computes some values twice
    SumColumnsFloat(type, from + last * size, stride, weights, taps, out + last);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {

HWY_EXPORT(SumRowsFloat);
HWY_EXPORT(SumPixelsFloat);
HWY_EXPORT(PixelsAtOnce);

void sum_rows(const void* first, DType type, int64_t stride, const float* weights, int taps,
              int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumRowsFloat)(first, type, stride, weights, taps, n, out);
}
void sum_pixels(const float* row, const PixelTaps& taps, float* quads) {
  HWY_DYNAMIC_DISPATCH(SumPixelsFloat)(row, taps, quads);
}

PixelTaps pixel_taps(const TapTable<float>& t, int channels, Arena& arena) {
  const int64_t group = HWY_DYNAMIC_DISPATCH(PixelsAtOnce)();
  const int64_t padded = (t.count + group - 1) / group * group;
  const int most = *std::max_element(t.taps, t.taps + t.count);
  auto* first = arena.array<int32_t>(static_cast<size_t>(padded));
  auto* taps = arena.array<float>(static_cast<size_t>(4 * padded));
  auto* weights = arena.array<float>(static_cast<size_t>(4 * padded * most));
  for (int64_t o = 0; o < padded; ++o) {
    const int64_t from = std::min(o, t.count - 1), place = o % group;
    first[o] = static_cast<int32_t>((t.first[from] - t.begin) * channels);
    std::fill_n(taps + 4 * o, 4, static_cast<float>(t.taps[from]));
    float* to = weights + 4 * ((o - place) * most + place);
    for (int i = 0; i < most; ++i, to += 4 * group) std::fill_n(to, 4, t.row(from)[i]);
  }
  return {t.count, channels, most, first, taps, weights};
}

}  // namespace stoker::rows
#endif
