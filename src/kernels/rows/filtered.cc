// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/filtered.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/levels.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/filtered.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/blocks_inl.h"
#include "kernels/rows/narrow_inl.h"

#ifndef STOKER_ROWS_FILTERED_PLACES
#define STOKER_ROWS_FILTERED_PLACES
namespace stoker::rows {
// A chunk of pixels: where the first values that make them lie, in bytes, and the weights of all.
struct FilterPlaces {
  static constexpr int64_t kRoom = kWarpChunk + HWY_MAX_BYTES / 4;  // a vector reads whole
  int64_t offset[kRoom];
  float y[PlaceTaps::kMost][kRoom], x[PlaceTaps::kMost][kRoom];
};
struct FilterInput {
  const std::byte* from;
  int64_t row, pixel;
};
// How many pixels of a row one load has.
template <class T>
constexpr int per_load(int count) {
  return sizeof(T) > 1 ? 1 : count > 4 ? count / 2 : count;
}
template <class T>
using Quad = std::conditional_t<sizeof(T) == 1, uint32_t, float[4]>;
}  // namespace stoker::rows
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T, int kCount>
void FilterPixels(const FilterInput& in, const FilterPlaces& at, int64_t n, Quad<T>* quads) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < in.pixel / static_cast<int64_t>(sizeof(T)); ++c) {
      float sum = 0;
      for (int k = 0; k < kCount; ++k) {
        const std::byte* from = in.from + at.offset[i] + k * in.row;
        float line = 0;
        for (int j = 0; j < kCount; ++j)
          line += at.x[j][i] * reinterpret_cast<const T*>(from + j * in.pixel)[c];
        sum += at.y[k][i] * line;
      }
      reinterpret_cast<T*>(quads + i)[c] = convert<T>(sum);
    }
}
#else
// A block holds a pixel of four values in float32.
template <class T, int kCount>
void FilterPixels(const FilterInput& source, const FilterPlaces& at, int64_t n, Quad<T>* quads) {
  constexpr int kPerLoad = per_load<T>(kCount);
  const FilterInput in = source;  // a copy stays in registers, whatever is written
  const auto pixels = static_cast<int64_t>(hn::Lanes(df)) / 4;
  const hn::Repartition<uint8_t, decltype(df)> d8;
  const auto same = BlockIndices();
  alignas(16) uint8_t order[kPerLoad][16];
  for (int j = 0; j < kPerLoad; ++j)
    for (int b = 0; b < 16; ++b)
      order[j][b] = static_cast<uint8_t>(b % 4 == 0 ? j * in.pixel + b / 4 : 0x80);
  const auto value = [&](auto loaded, int j) HWY_ATTR {
    if constexpr (sizeof(T) > 1) return hn::BitCast(df, loaded);
    const auto bytes = hn::TableLookupBytesOr0(loaded, hn::LoadDup128(d8, order[j]));
    return hn::ConvertTo(df, hn::BitCast(di, bytes));
  };
  for (int64_t i = 0; i < n; i += pixels) {
    const auto weight = [&](const float* list) HWY_ATTR {
      return hn::TableLookupLanes(hn::LoadU(df, list + i), same);
    };
    F x[kCount];
    for (int j = 0; j < kCount; ++j) x[j] = weight(at.x[j]);
    F sum = hn::Zero(df);
    const std::byte* from = in.from;
    for (int k = 0; k < kCount; ++k, from += in.row) {
      F line = hn::Zero(df);
      for (int j = 0; j < kCount; j += kPerLoad) {
        const auto loaded = LoadBlocks(from + j * in.pixel, at.offset + i);
        for (int l = 0; l < kPerLoad; ++l)
          line = hn::Add(line, hn::Mul(x[j + l], value(loaded, l)));
      }
      sum = hn::Add(sum, hn::Mul(weight(at.y[k]), line));
    }
    Store(sizeof(T) == 1 ? DType::kUint8 : DType::kFloat32, sum, quads + i);
  }
}
#endif

void FilterBytes(const FilterInput& in, const FilterPlaces& at, int count, int64_t n,
                 uint32_t* quads) {
  if (count == 4) return FilterPixels<uint8_t, 4>(in, at, n, quads);
  FilterPixels<uint8_t, 6>(in, at, n, quads);
}
void FilterFloats(const FilterInput& in, const FilterPlaces& at, int count, int64_t n,
                  float (*quads)[4]) {
  if (count == 4) return FilterPixels<float, 4>(in, at, n, quads);
  FilterPixels<float, 6>(in, at, n, quads);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(FilterBytes);
HWY_EXPORT(FilterFloats);

// Copies of the values that make places, for places with some of these outside.
template <class T>
struct Patches {
  static constexpr int64_t kRow = sizeof(T) == 1 ? 32 : 128;  // the longest load
  static constexpr int64_t kPlace = PlaceTaps::kMost * kRow, kSome = 2048 / kRow;
  alignas(64) std::byte bytes[kSome * kPlace];

  // Sets number i of them, for a place whose first value is that at (y, x).
  void set(int64_t i, const WarpedPixels& p, int64_t y, int64_t x, int count) {
    std::byte* to = bytes + i * kPlace;
    T fill;
    std::memcpy(&fill, p.fill, sizeof fill);
    std::fill_n(reinterpret_cast<T*>(to), count * kRow / sizeof(T), fill);
    const int64_t left = std::max<int64_t>(x, 0), right = std::min(x + count, p.extent[1]);
    if (left >= right) return;
    to += (left - x) * p.pixel;
    const std::byte* from = p.from + left * p.pixel;
    const auto size = static_cast<size_t>((right - left) * p.pixel);
    for (int64_t k = std::max<int64_t>(-y, 0); k < std::min<int64_t>(count, p.extent[0] - y); ++k)
      std::memcpy(to + k * kRow, from + (y + k) * p.row, size);
  }
};

// The offsets of places inside: of the values `before` positions before their whole parts.
void find_offsets(const int64_t* y, const int64_t* x, int64_t n, int64_t before, int64_t row,
                  int64_t pixel, int64_t* to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = (whole_part(y[i]) - before) * row + (whole_part(x[i]) - before) * pixel;
}

template <class T>
using Loop = void(const FilterInput& from, const FilterPlaces& at, int count, int64_t n,
                  Quad<T>* quads);
template <class T>
void filter_pixels(Loop<T>* loop, const WarpedPixels& p, Filter filter, bool inside,
                   const PlaceRow& at, int64_t n, Quad<T>* quads) {
  const int64_t *y = at.list[0], *x = at.list[1];
  const int count = PlaceTaps::count_of(filter), before = PlaceTaps::before(filter);
  FilterPlaces places;
  const auto make = [&](const FilterInput& from, int64_t done, int64_t some) {
    find_weights(y + done, some, filter, places.y[0], FilterPlaces::kRoom);
    find_weights(x + done, some, filter, places.x[0], FilterPlaces::kRoom);
    std::fill_n(places.offset + some, 3, places.offset[some - 1]);
    loop(from, places, count, some, quads + done);
  };
  if (inside) {
    at_cpu_level([=, row = p.row, pixel = p.pixel, to = &places.offset[0]] {
      find_offsets(y, x, n, before, row, pixel, to);
    });
    return make({p.from, p.row, p.pixel}, 0, n);
  }
  Patches<T> patches;
  for (int64_t done = 0; done < n; done += patches.kSome) {
    const int64_t some = std::min(patches.kSome, n - done);
    for (int64_t i = 0; i < some; ++i) {
      patches.set(i, p, whole_part(y[done + i]) - before, whole_part(x[done + i]) - before, count);
      places.offset[i] = i * patches.kPlace;
    }
    make({patches.bytes, patches.kRow, p.pixel}, done, some);
  }
}

}  // namespace

template <class T>
int64_t filter_load(Filter filter, int64_t pixel) {
  const int count = PlaceTaps::count_of(filter);
  return (count - per_load<T>(count)) * pixel + 16;
}
template int64_t filter_load<uint8_t>(Filter, int64_t);
template int64_t filter_load<float>(Filter, int64_t);

void filter_bytes(const WarpedPixels& p, Filter filter, bool inside, const PlaceRow& at, int64_t n,
                  uint32_t* quads) {
  filter_pixels<uint8_t>(HWY_DYNAMIC_DISPATCH(FilterBytes), p, filter, inside, at, n, quads);
}
void filter_floats(const WarpedPixels& p, Filter filter, bool inside, const PlaceRow& at, int64_t n,
                   float* quads) {
  filter_pixels<float>(HWY_DYNAMIC_DISPATCH(FilterFloats), p, filter, inside, at, n,
                       reinterpret_cast<float (*)[4]>(quads));
}

}  // namespace stoker::rows
#endif
