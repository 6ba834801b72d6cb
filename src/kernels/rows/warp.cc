// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/warp.h"

#include <cstring>

#include "kernels/warp/warp_map.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/warp.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// A chunk of pixels on its way: the bytes of two pixels of each of two rows, and their places.
#ifndef STOKER_ROWS_WARP_LOADED
#define STOKER_ROWS_WARP_LOADED
namespace stoker::rows {
struct Loaded {
  alignas(64) uint64_t top[kWarpChunk], bottom[kWarpChunk];
  alignas(64) int64_t y[kWarpChunk], x[kWarpChunk];
};
}  // namespace stoker::rows
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void Blend(const Loaded& in, int64_t pixel, int64_t n, uint32_t* quads) {
  for (int64_t i = 0; i < n; ++i) {
    const auto fy = FixedMean::fraction(in.y[i]), fx = FixedMean::fraction(in.x[i]);
    const auto along = [&](uint64_t two, int k) {
      const auto byte = [&](int64_t at) { return static_cast<uint8_t>(two >> (8 * at)); };
      return FixedMean::mean(FixedMean::of(byte(k)), FixedMean::of(byte(k + pixel)), fx);
    };
    quads[i] = 0;
    for (int k = 0; k < 4; ++k) {
      const auto sum = FixedMean::mean(along(in.top[i], k), along(in.bottom[i], k), fy);
      quads[i] |= uint32_t{FixedMean::result(sum)} << (8 * k);
    }
  }
}
#else
// Four 16-bit lanes for each pixel.
void Blend(const Loaded& in, int64_t pixel, int64_t n, uint32_t* quads) {
  const hn::ScalableTag<uint64_t> d64;
  const hn::Repartition<uint8_t, decltype(d64)> d8;
  const hn::Repartition<int16_t, decltype(d64)> d16;
  const hn::Repartition<uint16_t, decltype(d64)> du16;
  alignas(16) uint8_t order[4][16];
  for (int k = 0; k < 16; ++k) {
    const int half = k & 8, byte = (k & 7) / 2;
    const bool low = k % 2 == 0;
    order[0][k] = static_cast<uint8_t>(low ? half + byte : 0x80);
    order[1][k] = static_cast<uint8_t>(low ? half + byte + pixel : 0x80);
    order[2][k] = static_cast<uint8_t>(half + k % 2);
    order[3][k] = static_cast<uint8_t>((k & 7) < 4 ? half + 2 * (k & 3) : 0x80);
  }
  const auto first = hn::LoadDup128(d8, order[0]), second = hn::LoadDup128(d8, order[1]),
             same = hn::LoadDup128(d8, order[2]), pack = hn::LoadDup128(d8, order[3]);
  const auto mask = hn::Set(d64, 0x7fff);
  const auto half = hn::Set(d16, 64);
  const auto fraction = [&](const int64_t* place) HWY_ATTR {
    const auto v = hn::Load(d64, reinterpret_cast<const uint64_t*>(place));
    const auto bits = hn::And(hn::ShiftRight<kPlaceBits - 15>(v), mask);
    return hn::BitCast(d16, hn::TableLookupBytes(hn::BitCast(d8, bits), same));
  };
  const auto mean = [&](auto a, auto b, auto f)
                        HWY_ATTR { return hn::Add(a, hn::MulFixedPoint15(hn::Sub(b, a), f)); };
  const auto along = [&](const uint64_t* two, auto f) HWY_ATTR {
    const auto v = hn::BitCast(d8, hn::Load(d64, two));
    const auto a = hn::BitCast(d16, hn::TableLookupBytesOr0(v, first));
    const auto b = hn::BitCast(d16, hn::TableLookupBytesOr0(v, second));
    return mean(hn::ShiftLeft<7>(a), hn::ShiftLeft<7>(b), f);
  };
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(d64))) {
    const auto fx = fraction(in.x + i), fy = fraction(in.y + i);
    const auto sum = mean(along(in.top + i, fx), along(in.bottom + i, fx), fy);
    const auto levels = hn::ShiftRight<7>(hn::BitCast(du16, hn::Add(sum, half)));
    const auto bytes = hn::TableLookupBytesOr0(hn::BitCast(d8, levels), pack);
    const hn::Rebind<uint32_t, decltype(d64)> d32;
    hn::StoreU(hn::TruncateTo(d32, hn::BitCast(d64, bytes)), d32, quads + i);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(Blend);

uint64_t load_eight(const std::byte* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void load_inside(const WarpedPixels& p, const int64_t* place, const int64_t* step, int64_t n,
                 Loaded& to) {
  const std::byte* from = p.from;
  const int64_t row = p.row, pixel = p.pixel, down = step[0], right = step[1];
  int64_t y = place[0], x = place[1];
  for (int64_t i = 0; i < n; ++i, y += down, x += right) {
    const std::byte* at = from + whole_part(y) * row + whole_part(x) * pixel;
    to.y[i] = y, to.x[i] = x;
    to.top[i] = load_eight(at);
    to.bottom[i] = load_eight(at + row);
  }
}

// Loads pixels where their places may lie outside, and nothing that is not in memory.
class Border {
 public:
  explicit Border(const WarpedPixels& p)
      : p_(p), bits_(8 * p.pixel), fill_(p.fill * 0x0101010101010101u) {}

  void load(const int64_t* place, const int64_t* step, int64_t n, Loaded& to) const {
    const int64_t bottom = (p_.extent[0] - 1) << kPlaceBits;
    const int64_t right = (p_.extent[1] - 1) << kPlaceBits;
    int64_t y = place[0], x = place[1];
    for (int64_t i = 0; i < n; ++i, y += step[0], x += step[1]) {
      to.y[i] = p_.clamped ? std::clamp<int64_t>(y, 0, bottom) : y;
      to.x[i] = p_.clamped ? std::clamp<int64_t>(x, 0, right) : x;
      const int64_t first = whole_part(to.y[i]), at = whole_part(to.x[i]);
      to.top[i] = two(first, at);
      to.bottom[i] = FixedMean::fraction(to.y[i]) ? two(first + 1, at) : to.top[i];
    }
  }

 private:
  uint64_t two(int64_t y, int64_t x) const {
    const int64_t last = p_.extent[1] - 1;
    if (y < 0 || y >= p_.extent[0] || x < -1 || x > last) return fill_;
    const int64_t want = std::max<int64_t>(x, 0) * p_.pixel, at = std::min(want, p_.last_load());
    const uint64_t v = load_eight(p_.from + y * p_.row + at) >> (8 * (want - at));
    if (p_.clamped) return v;
    const uint64_t one = (uint64_t{1} << bits_) - 1;
    if (x < 0) return v << bits_ | (fill_ & one);
    return x == last ? (v & one) | (fill_ & ~one) : v;
  }

  const WarpedPixels& p_;
  int64_t bits_;
  uint64_t fill_;
};

}  // namespace

void warp(const WarpedPixels& p, bool inside, const int64_t* place, const int64_t* step, int64_t n,
          uint32_t* quads) {
  Loaded loaded;
  if (inside) load_inside(p, place, step, n, loaded);
  else Border(p).load(place, step, n, loaded);
  HWY_DYNAMIC_DISPATCH(Blend)(loaded, p.pixel, n, quads);
}

}  // namespace stoker::rows
#endif
