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

#ifndef STOKER_ROWS_RESAMPLE_VECTOR
#define STOKER_ROWS_RESAMPLE_VECTOR
namespace stoker::rows {
// The lanes of a vector, and how near values must be to be picked out of one vector or two.
struct VectorOfFloats {
  int64_t lanes, reach, reach_of_two;
};
}  // namespace stoker::rows
#endif

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

using Indices = decltype(hn::SetTableIndices(df, static_cast<const int32_t*>(nullptr)));

// Makes a vector of pixels, from output `o` on. For a result with fewer taps than others, -0 is
// added, which changes no number. kTaps is the largest number of taps, or 0 for any.
template <bool kFull, int kTaps>
HWY_INLINE F SumBlocks(const float* row, const PixelTaps& taps, int64_t o, Indices same) {
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
  // A vector may write behind its pixels, where the next one overwrites it, but not from `whole`
  // on.
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
template <PixelTaps::Way kWay>
HWY_INLINE F Pick(const float* from, I index) {
  const F v = hn::LoadU(df, from);
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kWay == PixelTaps::kPickTwo)
    return F{_mm512_permutex2var_ps(v.raw, index.raw, _mm512_loadu_ps(from + 16))};
#endif
  return hn::TableLookupLanes(v, hn::IndicesFromVec(df, index));
}

// Makes the vector of values from `v` on, as SumBlocks does.
template <PixelTaps::Way kWay, bool kFull, int kTaps>
HWY_INLINE F SumPicked(const float* row, const PixelTaps& taps, int64_t v) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const int most = kTaps ? kTaps : taps.most;
  const float *from = row + taps.first[v / lanes], *weights = taps.weights + v * most;
  const I index = hn::Load(di, taps.index + v);
  F sum = hn::Mul(hn::Load(df, weights), Pick<kWay>(from, index));
  for (int t = 1; t < most; ++t) {
    F x = hn::Mul(hn::Load(df, weights + t * lanes), Pick<kWay>(from + t * taps.channels, index));
    if constexpr (!kFull)
      x = hn::IfThenElse(hn::Lt(hn::Set(df, static_cast<float>(t)), hn::Load(df, taps.taps + v)), x,
                         hn::Set(df, -0.0f));
    sum = hn::Add(sum, x);
  }
  return sum;
}

template <PixelTaps::Way kWay, int kTaps>
void SumPicks(const float* row, const PixelTaps& table, uint8_t* pixels) {
  const PixelTaps taps = table;
  const hn::Repartition<uint8_t, decltype(df)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const int64_t values = taps.count * taps.channels, whole = values - lanes + 1;
  const auto put = [&](F sum, int64_t v)
                       HWY_ATTR { hn::StoreU(hn::BitCast(bytes, sum), bytes, pixels + 4 * v); };
  int64_t v = 0;
  for (; v < std::min(taps.full_begin, whole); v += lanes)
    put(SumPicked<kWay, false, kTaps>(row, taps, v), v);
  for (; v < std::min(taps.full_end, whole); v += lanes)
    put(SumPicked<kWay, true, kTaps>(row, taps, v), v);
  for (; v < whole; v += lanes) put(SumPicked<kWay, false, kTaps>(row, taps, v), v);
  if (v >= values) return;
  HWY_ALIGN float last[HWY_MAX_BYTES / 4];
  hn::Store(SumPicked<kWay, false, kTaps>(row, taps, v), df, last);
  std::memcpy(pixels + 4 * v, last, static_cast<size_t>(values - v) * sizeof last[0]);
}

template <int kTaps>
void SumPixelsWith(const float* row, const PixelTaps& taps, uint8_t* pixels) {
  switch (taps.way) {
    case PixelTaps::kBlocks: return SumVectors<kTaps>(row, taps, pixels);
    case PixelTaps::kPick: return SumPicks<PixelTaps::kPick, kTaps>(row, taps, pixels);
    case PixelTaps::kPickTwo: return SumPicks<PixelTaps::kPickTwo, kTaps>(row, taps, pixels);
  }
}
void SumPixelsFloat(const float* row, const PixelTaps& taps, uint8_t* pixels) {
  if (taps.most == 2) SumPixelsWith<2>(row, taps, pixels);
  else SumPixelsWith<0>(row, taps, pixels);
}

#endif

VectorOfFloats FloatVector() {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const bool picks = HWY_TARGET <= HWY_AVX2, picks_two = HWY_TARGET <= HWY_AVX3;
  return {lanes, picks ? lanes : 0, picks_two ? 2 * lanes : 0};
}

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
HWY_EXPORT(FloatVector);

void sum_rows(const void* first, DType type, int64_t stride, const float* weights, int taps,
              int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SumRowsFloat)(first, type, stride, weights, taps, n, out);
}
void sum_pixels(const float* row, const PixelTaps& taps, void* pixels) {
  HWY_DYNAMIC_DISPATCH(SumPixelsFloat)(row, taps, static_cast<uint8_t*>(pixels));
}

namespace {

// Lays out the taps of `count` results for vectors of `group`. Result i is of pixel pixel(i).
template <class Pixel>
void lay_out(const TapTable<float>& t, int64_t count, int64_t group, const Pixel& pixel,
             PixelTaps& made, Arena& arena) {
  constexpr int64_t kSlack = 16;  // a vector loads more than it needs
  const int64_t padded = (count + group - 1) / group * group;
  auto* taps = arena.array<float>(static_cast<size_t>(padded + kSlack));
  auto* weights = arena.array<float>(static_cast<size_t>(padded * made.most + kSlack));
  for (int64_t i = 0; i < padded; ++i) {
    const int64_t from = pixel(std::min(i, count - 1)), place = i % group;
    taps[i] = static_cast<float>(t.taps[from]);
    for (int k = 0; k < made.most; ++k)
      weights[(i - place) * made.most + k * group + place] = t.row(from)[k];
  }
  const auto is_full = [&](int64_t i) {
    return std::all_of(taps + i, taps + i + group,
                       [&](float n) { return n == static_cast<float>(made.most); });
  };
  while (made.full_begin < padded && !is_full(made.full_begin)) made.full_begin += group;
  made.full_end = made.full_begin;
  while (made.full_end < padded && is_full(made.full_end)) made.full_end += group;
  made.taps = taps, made.weights = weights;
}

}  // namespace

PixelTaps pixel_taps(const TapTable<float>& t, int channels, Arena& arena) {
  const auto vector = HWY_DYNAMIC_DISPATCH(FloatVector)();
  PixelTaps made{t.count, channels, *std::max_element(t.taps, t.taps + t.count)};
  // Where value v of the result begins in the row.
  const int64_t values = t.count * channels;
  const auto begin = [&](int64_t v) {
    const int64_t at = std::min(v, values - 1);
    return static_cast<int32_t>((t.first[at / channels] - t.begin) * channels + at % channels);
  };
  const int64_t vectors = (values + vector.lanes - 1) / vector.lanes;
  auto* first = arena.array<int32_t>(static_cast<size_t>(std::max(vectors, t.count + 3)));
  auto* index = arena.array<int32_t>(static_cast<size_t>(vectors * vector.lanes));
  int64_t reach = 0;
  for (int64_t i = 0; i < vectors; ++i) {
    int32_t* of = index + i * vector.lanes;
    for (int64_t l = 0; l < vector.lanes; ++l) of[l] = begin(i * vector.lanes + l);
    first[i] = *std::min_element(of, of + vector.lanes);
    for (int64_t l = 0; l < vector.lanes; ++l)
      reach = std::max<int64_t>(reach, 1 + (of[l] -= first[i]));
  }
  made.first = first, made.index = index;
  if (reach <= std::max(vector.reach, vector.reach_of_two)) {
    made.way = reach <= vector.reach ? PixelTaps::kPick : PixelTaps::kPickTwo;
    lay_out(t, values, vector.lanes, [&](int64_t v) { return v / channels; }, made, arena);
    return made;
  }
  const int64_t group = std::max<int64_t>(1, vector.lanes / 4);
  for (int64_t o = 0; o < (t.count + group - 1) / group * group; ++o)
    first[o] = begin(std::min(o, t.count - 1) * channels);
  lay_out(t, t.count, group, [](int64_t o) { return o; }, made, arena);
  return made;
}

}  // namespace stoker::rows
#endif
