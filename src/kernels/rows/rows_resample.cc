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

void SumPixelsFloat(const float* row, const PixelTaps& taps, uint8_t* pixels) {
  for (int64_t o = 0; o < taps.count; ++o) {
    const float* weights = taps.weights + o * taps.most;
    for (int c = 0; c < taps.channels; ++c, pixels += sizeof(float)) {
      const float* p = row + taps.first[o] + c;
      float sum = weights[0] * p[0];
      for (int t = 1; t < static_cast<int>(taps.taps[o]); ++t)
        sum = sum + weights[t] * p[t * taps.channels];
      std::memcpy(pixels, &sum, sizeof sum);
    }
  }
}

#else

// Loads four values from a pixel on into each block.
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

using Places = decltype(hn::SetTableIndices(df, static_cast<const int32_t*>(nullptr)));

// Makes a vector of pixels, from the output `o` on. Where a result has fewer taps than others, -0
// is added instead, which changes no number. kTaps is the largest number of taps, or 0 for any.
template <bool kFull, int kTaps>
HWY_INLINE F SumBlocks(const float* row, const PixelTaps& taps, int64_t o, Places same) {
  const int most = kTaps ? kTaps : taps.most;
  const float* weights = taps.weights + o * most;
  const int64_t group = static_cast<int64_t>(hn::Lanes(df)) / 4;
  const auto each = [&](const float* values) HWY_ATTR {  // one value for each pixel of the vector
    return hn::TableLookupLanes(hn::LoadU(df, values), same);
  };
  F sum = hn::Mul(each(weights), LoadPixels(row, taps.first + o)), count = hn::Zero(df);
  if constexpr (!kFull) count = each(taps.taps + o);
  for (int t = 1; t < most; ++t) {
    F v = hn::Mul(each(weights + t * group), LoadPixels(row + t * taps.channels, taps.first + o));
    if constexpr (!kFull)
      v = hn::IfThenElse(hn::Lt(hn::Set(df, static_cast<float>(t)), count), v, hn::Set(df, -0.0f));
    sum = hn::Add(sum, v);
  }
  return sum;
}

template <int kTaps>
void SumVectors(const float* row, const PixelTaps& table, uint8_t* pixels) {
  const PixelTaps taps = table;  // a copy stays in registers, whatever is written
  const hn::Repartition<uint8_t, decltype(df)> bytes;  // values may lie at any address
  constexpr auto kSize = int64_t{sizeof(float)};
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const int64_t group = lanes / 4, size = taps.channels * kSize;
  HWY_ALIGN int32_t apart[HWY_MAX_BYTES / 4], close[HWY_MAX_BYTES / 4] = {};
  for (int64_t l = 0; l < lanes; ++l) apart[l] = static_cast<int32_t>(l / 4);
  for (int64_t l = 0; l < group * taps.channels; ++l)
    close[l] = static_cast<int32_t>(l / taps.channels * 4 + l % taps.channels);
  const auto same = hn::SetTableIndices(df, apart), packed = hn::SetTableIndices(df, close);
  // A vector may be longer than its pixels: it writes what the next one overwrites. From `whole`
  // on it would write too much.
  const int64_t whole = taps.count - (lanes * kSize + size - 1) / size + 1;
  const auto put = [&](F sum, uint8_t* to) HWY_ATTR {
    hn::StoreU(hn::BitCast(bytes, hn::TableLookupLanes(sum, packed)), bytes, to);
  };
  int64_t o = 0;
  for (; o < std::min(taps.full_begin, whole); o += group, pixels += group * size)
    put(SumBlocks<false, kTaps>(row, taps, o, same), pixels);
  for (; o < std::min(taps.full_end, whole); o += group, pixels += group * size)
    put(SumBlocks<true, kTaps>(row, taps, o, same), pixels);
  for (; o < whole; o += group, pixels += group * size)
    put(SumBlocks<false, kTaps>(row, taps, o, same), pixels);
  for (; o < taps.count; o += group, pixels += group * size) {
    HWY_ALIGN uint8_t last[HWY_MAX_BYTES];
    put(SumBlocks<false, kTaps>(row, taps, o, same), last);
    std::memcpy(pixels, last, static_cast<size_t>(std::min(taps.count - o, group) * size));
  }
}
void SumPixelsFloat(const float* row, const PixelTaps& taps, uint8_t* pixels) {
  if (taps.most == 2) SumVectors<2>(row, taps, pixels);
  else SumVectors<0>(row, taps, pixels);
}

#endif

int64_t PixelsAtOnce() { return std::max<int64_t>(1, static_cast<int64_t>(hn::Lanes(df)) / 4); }

// kTaps is the number of taps, or 0 for any.
template <int kTaps, class Type>
HWY_INLINE void SumColumnsFloat(Type type, const uint8_t* first, int64_t stride,
                                const float* weights, int taps, float* out) {
  F sum = hn::Mul(hn::Set(df, weights[0]), Load(type, first));
  for (int t = 1; t < (kTaps ? kTaps : taps); ++t)
    sum = hn::Add(sum, hn::Mul(hn::Set(df, weights[t]), Load(type, first + t * stride)));
  hn::StoreU(sum, df, out);
}
// Requires: n is at least the number of lanes.
template <int kTaps, class Type>
HWY_INLINE void SumRowsOf(Type type, const uint8_t* from, int64_t stride, const float* weights,
                          int taps, int64_t n, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const int64_t size = size_of(type), last = n - lanes;
  for (int64_t i = 0; i < last; i += lanes)
    SumColumnsFloat<kTaps>(type, from + i * size, stride, weights, taps, out + i);
  // Computes some values twice.
  SumColumnsFloat<kTaps>(type, from + last * size, stride, weights, taps, out + last);
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
    switch (taps) {
      case 1: return SumRowsOf<1>(type, from, stride, weights, taps, n, out);
      case 2: return SumRowsOf<2>(type, from, stride, weights, taps, n, out);
      default: return SumRowsOf<0>(type, from, stride, weights, taps, n, out);
    }
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
void sum_pixels(const float* row, const PixelTaps& taps, void* pixels) {
  HWY_DYNAMIC_DISPATCH(SumPixelsFloat)(row, taps, static_cast<uint8_t*>(pixels));
}

PixelTaps pixel_taps(const TapTable<float>& t, int channels, Arena& arena) {
  constexpr int64_t kSlack = 16;  // a vector loads more than it needs
  const int64_t group = HWY_DYNAMIC_DISPATCH(PixelsAtOnce)();
  const int64_t padded = (t.count + group - 1) / group * group;
  const int most = *std::max_element(t.taps, t.taps + t.count);
  auto* first = arena.array<int32_t>(static_cast<size_t>(padded));
  auto* taps = arena.array<float>(static_cast<size_t>(padded + kSlack));
  auto* weights = arena.array<float>(static_cast<size_t>(padded * most + kSlack));
  PixelTaps made{t.count, channels, most, first, taps, weights};
  for (int64_t o = 0; o < padded; ++o) {
    const int64_t from = std::min(o, t.count - 1), place = o % group;
    first[o] = static_cast<int32_t>((t.first[from] - t.begin) * channels);
    taps[o] = static_cast<float>(t.taps[from]);
    for (int i = 0; i < most; ++i) weights[(o - place) * most + i * group + place] = t.row(from)[i];
  }
  const auto is_full = [&](int64_t o) {
    return std::all_of(taps + o, taps + o + group, [&](float n) { return n == taps[o]; }) &&
           taps[o] == static_cast<float>(most);
  };
  while (made.full_begin < padded && !is_full(made.full_begin)) made.full_begin += group;
  made.full_end = made.full_begin;
  while (made.full_end < padded && is_full(made.full_end)) made.full_end += group;
  return made;
}

}  // namespace stoker::rows
#endif
