// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/filtered.h"

#include <algorithm>
#include <cstring>

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
struct ByteSource {
  const std::byte* from;
  int64_t row, pixel;
};
// A load has so many of a row's values.
constexpr int per_load(int count) { return count > 4 ? count / 2 : count; }
}  // namespace stoker::rows
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <int kCount>
void FilterPixels(const ByteSource& in, const FilterPlaces& at, int64_t n, uint32_t* quads) {
  for (int64_t i = 0; i < n; ++i) {
    quads[i] = 0;
    for (int64_t c = 0; c < in.pixel; ++c) {
      float sum = 0;
      for (int k = 0; k < kCount; ++k) {
        const std::byte* from = in.from + at.offset[i] + k * in.row + c;
        float line = 0;
        for (int j = 0; j < kCount; ++j)
          line += at.x[j][i] * std::to_integer<float>(from[j * in.pixel]);
        sum += at.y[k][i] * line;
      }
      quads[i] |= uint32_t{convert<uint8_t>(sum)} << (8 * c);
    }
  }
}
#else
// A block holds a pixel of four values, each in float32.
template <int kCount>
void FilterPixels(const ByteSource& source, const FilterPlaces& at, int64_t n, uint32_t* quads) {
  constexpr int kPerLoad = per_load(kCount);
  const ByteSource in = source;  // a copy stays in registers, whatever is written
  const auto pixels = static_cast<int64_t>(hn::Lanes(df)) / 4;
  const hn::Repartition<uint8_t, decltype(df)> d8;
  const auto same = BlockIndices();
  alignas(16) uint8_t order[kPerLoad][16];
  for (int j = 0; j < kPerLoad; ++j)
    for (int b = 0; b < 16; ++b)
      order[j][b] = static_cast<uint8_t>(b % 4 == 0 ? j * in.pixel + b / 4 : 0x80);
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
        const auto bytes = LoadBlocks(from + j * in.pixel, at.offset + i);
        for (int l = 0; l < kPerLoad; ++l) {
          const auto value = hn::TableLookupBytesOr0(bytes, hn::LoadDup128(d8, order[l]));
          line = hn::Add(line, hn::Mul(x[j + l], hn::ConvertTo(df, hn::BitCast(di, value))));
        }
      }
      sum = hn::Add(sum, hn::Mul(weight(at.y[k]), line));
    }
    Store(DType::kUint8, sum, quads + i);
  }
}
#endif

void FilterBytes(const ByteSource& in, const FilterPlaces& at, int count, int64_t n,
                 uint32_t* quads) {
  if (count == 4) return FilterPixels<4>(in, at, n, quads);
  FilterPixels<6>(in, at, n, quads);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(FilterBytes);

// The values that make places anywhere, with those outside, in memory of their own.
struct Patches {
  static constexpr int64_t kRow = 32, kPlace = PlaceTaps::kMost * kRow, kSome = 64;
  alignas(64) std::byte bytes[kSome * kPlace];

  // Sets number i of them, for a place whose first value is that at (y, x).
  void set(int64_t i, const WarpedPixels& p, int64_t y, int64_t x, int count) {
    std::byte* to = bytes + i * kPlace;
    std::memset(to, std::to_integer<int>(p.fill[0]), kPlace);
    const int64_t left = std::max<int64_t>(x, 0), right = std::min(x + count, p.extent[1]);
    if (left >= right) return;
    to += (left - x) * p.pixel;
    const std::byte* from = p.from + left * p.pixel;
    const auto size = static_cast<size_t>((right - left) * p.pixel);
    for (int64_t k = std::max<int64_t>(-y, 0); k < std::min<int64_t>(count, p.extent[0] - y); ++k)
      std::memcpy(to + k * kRow, from + (y + k) * p.row, size);
  }
};

}  // namespace

int64_t filter_load(Filter filter, int64_t pixel) {
  const int count = PlaceTaps::count_of(filter);
  return (count - per_load(count)) * pixel + 16;
}

void filter_bytes(const WarpedPixels& p, Filter filter, bool inside, const PlaceRow& at, int64_t n,
                  uint32_t* quads) {
  const int count = PlaceTaps::count_of(filter), before = PlaceTaps::before(filter);
  const auto first = [&](int64_t place) { return whole_part(place) - before; };
  FilterPlaces places;
  const auto make = [&](const ByteSource& from, int64_t done, int64_t some) {
    find_weights(at.list[0] + done, some, filter, places.y[0], FilterPlaces::kRoom);
    find_weights(at.list[1] + done, some, filter, places.x[0], FilterPlaces::kRoom);
    std::fill_n(places.offset + some, 3, places.offset[some - 1]);
    HWY_DYNAMIC_DISPATCH(FilterBytes)(from, places, count, some, quads + done);
  };
  if (inside) {
    for (int64_t i = 0; i < n; ++i)
      places.offset[i] = first(at.list[0][i]) * p.row + first(at.list[1][i]) * p.pixel;
    return make({p.from, p.row, p.pixel}, 0, n);
  }
  Patches patches;
  for (int64_t done = 0; done < n; done += Patches::kSome) {
    const int64_t some = std::min(Patches::kSome, n - done);
    for (int64_t i = 0; i < some; ++i) {
      patches.set(i, p, first(at.list[0][done + i]), first(at.list[1][done + i]), count);
      places.offset[i] = i * Patches::kPlace;
    }
    make({patches.bytes, Patches::kRow, p.pixel}, done, some);
  }
}

}  // namespace stoker::rows
#endif
