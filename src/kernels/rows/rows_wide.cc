// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Weighted sums of rows and of pixels in float64.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/rows/rows.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rows_wide.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Values may lie at any address, so they are loaded as bytes.
template <class D>
HWY_INLINE hn::Vec<D> LoadBytes(D d, const uint8_t* p) {
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, D>(), p));
}
template <class D>
HWY_INLINE void StoreBytes(D, hn::Vec<D> v, uint8_t* p) {
  const hn::Repartition<uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, p);
}

HWY_INLINE double LoadOne(const uint8_t* p) {
  double v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void AddRow(const uint8_t* values, double weight, bool begins, int64_t n, double* sum) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto w = hn::Set(d, weight);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::Mul(w, LoadBytes(d, values + 8 * i));
    hn::StoreU(begins ? v : hn::Add(hn::LoadU(d, sum + i), v), d, sum + i);
  }
  for (; i < n; ++i) {
    const double v = weight * LoadOne(values + 8 * i);
    sum[i] = begins ? v : sum[i] + v;
  }
}

// Int32 fits into float64 exactly.
HWY_INLINE auto LoadWide(const double*, const uint8_t* p) {
  return LoadBytes(hn::ScalableTag<double>(), p);
}
HWY_INLINE auto LoadWide(const int32_t*, const uint8_t* p) {
  const hn::ScalableTag<double> d;
  return hn::PromoteTo(d, LoadBytes(hn::Rebind<int32_t, decltype(d)>(), p));
}

// Sums up columns without a row in between. Requires: n is at least the number of lanes.
template <class T>
void SumColumnsWide(const uint8_t* first, int64_t stride, const double* weights, int taps,
                    int64_t n, double* sum) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* const type = nullptr;
  for (int64_t k = 0; k < n; k += lanes) {
    const int64_t i = std::min(k, n - lanes);  // sums up some values twice
    const uint8_t* from = first + i * static_cast<int64_t>(sizeof(T));
    auto v = hn::Mul(hn::Set(d, weights[0]), LoadWide(type, from));
    for (int t = 1; t < taps; ++t)
      v = hn::Add(v, hn::Mul(hn::Set(d, weights[t]), LoadWide(type, from + t * stride)));
    hn::StoreU(v, d, sum + i);
  }
}

// Returns false where there is no code for the type or the row is too short.
bool SumColumns(const uint8_t* first, DType type, int64_t stride, const double* weights, int taps,
                int64_t n, double* sum) {
  if (n < static_cast<int64_t>(hn::Lanes(hn::ScalableTag<double>()))) return false;
  if (type == DType::kFloat64) SumColumnsWide<double>(first, stride, weights, taps, n, sum);
  else if (type == DType::kInt32) SumColumnsWide<int32_t>(first, stride, weights, taps, n, sum);
  else return false;
  return true;
}

HWY_INLINE void SumPixel(const double* from, int channels, const double* weights, int taps,
                         uint8_t* to) {
  for (int c = 0; c < channels; ++c) {
    double sum = weights[0] * from[c];
    for (int t = 1; t < taps; ++t) sum = sum + weights[t] * from[t * channels + c];
    std::memcpy(to + 8 * c, &sum, sizeof sum);
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four values with two taps each, two of the values in each sum.
HWY_INLINE void SumFour(const double* row, const int32_t* first, int64_t begin,
                        const double* weights, int64_t pitch, uint8_t* to) {
  const hn::Full128<double> d;
  for (int i = 0; i < 4; i += 2, first += 2, weights += 2 * pitch) {
    const auto a = hn::Mul(hn::LoadU(d, weights), hn::LoadU(d, row + first[0] - begin));
    const auto b = hn::Mul(hn::LoadU(d, weights + pitch), hn::LoadU(d, row + first[1] - begin));
    StoreBytes(d, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)), to + 8 * i);
  }
}
#endif

void SumValues(const double* row, const TapTable<double>& table, uint8_t* to) {
  const TapTable<double> taps = table;  // a copy stays in registers, whatever is written
  for (int64_t o = 0; o < taps.count; ++o) {
#if HWY_TARGET != HWY_SCALAR
    for (; o + 4 <= taps.count; o += 4) {
      const int32_t* n = taps.taps + o;
      if (n[0] != 2 || n[1] != 2 || n[2] != 2 || n[3] != 2) break;
      SumFour(row, taps.first + o, taps.begin, taps.row(o), taps.pitch, to + 8 * o);
    }
    if (o == taps.count) return;
#endif
    SumPixel(row + taps.first[o] - taps.begin, 1, taps.row(o), taps.taps[o], to + 8 * o);
  }
}

// A vector may be longer than a pixel: it reads too far, and writes what the next pixel overwrites.
template <int kChannels>
void SumPixels(const double* row, const TapTable<double>& table, uint8_t* to) {
  const TapTable<double> taps = table;
  const hn::CappedTag<double, kChannels == 2 ? 2 : 4> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  for (int64_t o = 0; o < taps.count; ++o, to += kChannels * sizeof(double)) {
    const double* from = row + (taps.first[o] - taps.begin) * kChannels;
    const double* weights = taps.row(o);
    const int n = taps.taps[o];
    if (o + 1 == taps.count) return SumPixel(from, kChannels, weights, n, to);
    for (int c = 0; c < kChannels; c += kLanes) {
      auto sum = hn::Mul(hn::Set(d, weights[0]), hn::LoadU(d, from + c));
      for (int t = 1; t < n; ++t)
        sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[t]), hn::LoadU(d, from + t * kChannels + c)));
      StoreBytes(d, sum, to + 8 * c);
    }
  }
}

// Rounds as kernels/convert.h does.
void ToInt32(const double* from, uint8_t* to, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, from + i);
    const auto number = hn::IfThenElseZero(hn::Eq(v, v), v);
    const auto half = hn::CopySign(hn::Set(d, detail::kBelowHalf<double>), number);
    const auto whole = hn::DemoteTo(di, hn::Add(number, half));  // cuts off and saturates
    StoreBytes(di, whole, to + 4 * i);
  }
  for (; i < n; ++i) {
    const auto whole = convert<int32_t>(from[i]);
    std::memcpy(to + 4 * i, &whole, sizeof whole);
  }
}

void SumPixelsWide(const double* row, int channels, const TapTable<double>& taps, uint8_t* to) {
  switch (channels) {
    case 1: return SumValues(row, taps, to);
    case 2: return SumPixels<2>(row, taps, to);
    case 3: return SumPixels<3>(row, taps, to);
    default: return SumPixels<4>(row, taps, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {

HWY_EXPORT(AddRow);
HWY_EXPORT(SumColumns);
HWY_EXPORT(SumPixelsWide);
HWY_EXPORT(ToInt32);

void sum_rows(const void* first, DType type, int64_t stride, const double* weights, int taps,
              int64_t n, double* sum) {
  constexpr int64_t kChunk = 256;  // values are converted a few at a time, while they are near
  auto* from = static_cast<const uint8_t*>(first);
  if (HWY_DYNAMIC_DISPATCH(SumColumns)(from, type, stride, weights, taps, n, sum)) return;
  const int64_t size = size_of(type);
  alignas(64) uint8_t values[kChunk * sizeof(double)];

  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t some = std::min(kChunk, n - i);
    for (int t = 0; t < taps; ++t) {
      const uint8_t* row = from + t * stride + i * size;
      const bool converts = type != DType::kFloat64;
      if (converts) convert_row(row, type, values, DType::kFloat64, some);
      HWY_DYNAMIC_DISPATCH(AddRow)(converts ? values : row, weights[t], t == 0, some, sum + i);
    }
  }
}

void sum_pixels(const double* row, int channels, const TapTable<double>& taps, void* pixels) {
  HWY_DYNAMIC_DISPATCH(SumPixelsWide)(row, channels, taps, static_cast<uint8_t*>(pixels));
}

void round(const double* values, DType type, void* out, int64_t n) {
  if (type == DType::kInt32) HWY_DYNAMIC_DISPATCH(ToInt32)(values, static_cast<uint8_t*>(out), n);
  else convert_row(values, DType::kFloat64, out, type, n);
}

}  // namespace stoker::rows
#endif
