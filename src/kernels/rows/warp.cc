// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/warp.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/warp/warp_map.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/warp.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/blocks_inl.h"

#ifndef STOKER_ROWS_WARP_PLACES
#define STOKER_ROWS_WARP_PLACES
namespace stoker::rows {
// The places of a chunk of pixels, and where their values lie, in bytes.
struct Places {
  alignas(64) int64_t y[kWarpChunk], x[kWarpChunk], offset[kWarpChunk];
};
// The bytes of two pixels of each of two rows.
struct Pairs {
  alignas(64) uint64_t top[kWarpChunk], bottom[kWarpChunk];
};
// Pixels of floats: those at a place, and how far their neighbours lie, in bytes.
struct FloatPixels {
  const std::byte* from;
  int64_t row, pixel;
};
}  // namespace stoker::rows
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void FindPlaces(const WarpedPixels& p, const PlaceRow& row, int64_t n, Places& to) {
  for (int64_t i = 0; i < n; ++i) {
    to.y[i] = row.list[0] ? row.list[0][i] : row.place[0] + i * row.stride[0];
    to.x[i] = row.list[1] ? row.list[1][i] : row.place[1] + i * row.stride[1];
    to.offset[i] = whole_part(to.y[i]) * p.row + whole_part(to.x[i]) * p.pixel;
  }
}

void BlendBytes(const Pairs& in, const Places& at, int64_t pixel, int64_t n, uint32_t* quads) {
  for (int64_t i = 0; i < n; ++i) {
    const auto fy = FixedMean::fraction(at.y[i]), fx = FixedMean::fraction(at.x[i]);
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

void BlendFloats(const FloatPixels& in, const Places& at, int64_t n, float* quads) {
  using Mean = FloatBlend<float>;
  const auto mean = [](float a, float b, float f) { return f == 0 ? a : Mean::mean(a, b, f); };
  for (int64_t i = 0; i < n; ++i) {
    const std::byte* place = in.from + at.offset[i];
    float a[4], b[4], c[4], e[4];
    std::memcpy(a, place, sizeof a);
    std::memcpy(b, place + in.pixel, sizeof b);
    std::memcpy(c, place + in.row, sizeof c);
    std::memcpy(e, place + in.row + in.pixel, sizeof e);
    const float fy = Mean::fraction(at.y[i]), fx = Mean::fraction(at.x[i]);
    for (int k = 0; k < 4; ++k)
      quads[4 * i + k] = mean(mean(a[k], b[k], fx), mean(c[k], e[k], fx), fy);
  }
}
#else
// Whole parts are the upper halves of places, whose products with a size are exact.
void FindPlaces(const WarpedPixels& p, const PlaceRow& at, int64_t n, Places& to) {
  const hn::ScalableTag<int64_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<int32_t, decltype(d)> d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto row = hn::BitCast(d32, hn::Set(d, p.row)),
             pixel = hn::BitCast(d32, hn::Set(d, p.pixel));
  const auto bytes = [&](auto v, auto size) HWY_ATTR {
    return hn::MulEven(hn::BitCast(d32, hn::ShiftRight<kPlaceBits>(hn::BitCast(du, v))), size);
  };
  const auto offset = [&](auto y, auto x)
                          HWY_ATTR { return hn::Add(bytes(y, row), bytes(x, pixel)); };
  if (at.list[0]) {
    std::copy_n(at.list[0], n, to.y);
    std::copy_n(at.list[1], n, to.x);
    for (int64_t i = 0; i < n; i += lanes)
      hn::Store(offset(hn::Load(d, to.y + i), hn::Load(d, to.x + i)), d, to.offset + i);
    return;
  }
  HWY_ALIGN int64_t first[2][HWY_MAX_BYTES / 8];
  for (int64_t l = 0; l < lanes; ++l)
    for (int i = 0; i < 2; ++i) first[i][l] = at.place[i] + l * at.stride[i];
  auto y = hn::Load(d, first[0]), x = hn::Load(d, first[1]);
  const auto down = hn::Set(d, lanes * at.stride[0]), right = hn::Set(d, lanes * at.stride[1]);
  for (int64_t i = 0; i < n; i += lanes) {
    hn::Store(y, d, to.y + i);
    hn::Store(x, d, to.x + i);
    hn::Store(offset(y, x), d, to.offset + i);
    y = hn::Add(y, down), x = hn::Add(x, right);
  }
}

// Four 16-bit lanes for each pixel.
void BlendBytes(const Pairs& in, const Places& at, int64_t pixel, int64_t n, uint32_t* quads) {
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
    const auto fx = fraction(at.x + i), fy = fraction(at.y + i);
    const auto sum = mean(along(in.top + i, fx), along(in.bottom + i, fx), fy);
    const auto levels = hn::ShiftRight<7>(hn::BitCast(du16, hn::Add(sum, half)));
    const auto bytes = hn::TableLookupBytesOr0(hn::BitCast(d8, levels), pack);
    const hn::Rebind<uint32_t, decltype(d64)> d32;
    hn::StoreU(hn::TruncateTo(d32, hn::BitCast(d64, bytes)), d32, quads + i);
  }
}

const hn::ScalableTag<float> df;
using F = hn::Vec<decltype(df)>;

// Loads four floats into each block, at any address.
HWY_INLINE F LoadPixels(const std::byte* from, const int64_t* offset) {
  return hn::BitCast(df, LoadBlocks(from, offset));
}

// FloatBlend::fraction() of a chunk's places.
void FindFractions(const int64_t* place, int64_t n, float* to) {
  const hn::Repartition<uint32_t, decltype(df)> d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto* halves = reinterpret_cast<const uint32_t*>(place + i);
    const auto low = hn::ConcatEven(d32, hn::Load(d32, halves + lanes), hn::Load(d32, halves));
    const auto bits = hn::BitCast(hn::RebindToSigned<decltype(d32)>(),
                                  hn::ShiftRight<kPlaceBits - FloatBlend<float>::kBits>(low));
    hn::Store(hn::Mul(hn::ConvertTo(df, bits), hn::Set(df, 0x1p-24f)), df, to + i);
  }
}

// A block holds a pixel of four values. What has no weight is left out without a branch.
void BlendFloats(const FloatPixels& source, const Places& at, int64_t n, float* quads) {
  const FloatPixels in = source;  // a copy stays in registers, whatever is written
  const auto pixels = static_cast<int64_t>(hn::Lanes(df)) / 4;
  HWY_ALIGN float fy[kWarpChunk + HWY_MAX_BYTES / 4], fx[kWarpChunk + HWY_MAX_BYTES / 4];
  FindFractions(at.y, n, fy);
  FindFractions(at.x, n, fx);
  const auto same = BlockIndices();
  const auto one = hn::Set(df, 1), none = hn::Zero(df);
  const auto mean = [&](F a, F b, F f, F rest, auto is_whole) HWY_ATTR {
    const F sum = hn::Add(hn::Mul(a, rest), hn::Mul(b, f));
    return hn::IfThenElse(hn::Or(is_whole, hn::Eq(a, b)), a, sum);
  };
  for (int64_t i = 0; i < n; i += pixels) {
    const F down = hn::TableLookupLanes(hn::LoadU(df, fy + i), same),
            right = hn::TableLookupLanes(hn::LoadU(df, fx + i), same);
    const F left = hn::Sub(one, right);
    const auto is_whole = hn::Eq(right, none);
    const int64_t* offset = at.offset + i;
    const F top = mean(LoadPixels(in.from, offset), LoadPixels(in.from + in.pixel, offset), right,
                       left, is_whole);
    const std::byte* below = in.from + in.row;
    const F bottom = mean(LoadPixels(below, offset), LoadPixels(below + in.pixel, offset), right,
                          left, is_whole);
    hn::StoreU(mean(top, bottom, down, hn::Sub(one, down), hn::Eq(down, none)), df, quads + 4 * i);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(FindPlaces);
HWY_EXPORT(BlendBytes);
HWY_EXPORT(BlendFloats);

void find_places(const WarpedPixels& p, const PlaceRow& at, int64_t n, Places& to) {
  HWY_DYNAMIC_DISPATCH(FindPlaces)(p, at, n, to);
}

// find_places() for places that may lie outside. Offsets are left to the caller.
void find_border(const WarpedPixels& p, const PlaceRow& at, int64_t n, Places& to) {
  const int64_t most[] = {(p.extent[0] - 1) << kPlaceBits, (p.extent[1] - 1) << kPlaceBits};
  int64_t* const lists[] = {to.y, to.x};
  for (int k = 0; k < 2; ++k)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t place = at.list[k] ? at.list[k][i] : at.place[k] + i * at.stride[k];
      lists[k][i] = p.clamped ? std::clamp<int64_t>(place, 0, most[k]) : place;
    }
}

// Each pixel but the last may write too much, as the next one overwrites it.
template <size_t kUsed>
void pick_sized(const std::byte* from, const int64_t* offset, int64_t n, std::byte* to) {
  constexpr size_t kLoad = std::bit_ceil(kUsed);
  int64_t k = 0;
  for (; k + 4 < n; k += 4)
    for (int j = 0; j < 4; ++j, to += kUsed) std::memcpy(to, from + offset[k + j], kLoad);
  for (; k + 1 < n; ++k, to += kUsed) std::memcpy(to, from + offset[k], kLoad);
  std::memcpy(to, from + offset[k], kUsed);
}
// Calls with_size(std::integral_constant) with the size of a pixel; 0: an unusual one.
template <class WithSize>
void with_pixel_size(int64_t used, const WithSize& with_size) {
  switch (used) {
    case 1: return with_size(std::integral_constant<size_t, 1>());
    case 2: return with_size(std::integral_constant<size_t, 2>());
    case 3: return with_size(std::integral_constant<size_t, 3>());
    case 4: return with_size(std::integral_constant<size_t, 4>());
    case 6: return with_size(std::integral_constant<size_t, 6>());
    case 8: return with_size(std::integral_constant<size_t, 8>());
    case 12: return with_size(std::integral_constant<size_t, 12>());
    case 16: return with_size(std::integral_constant<size_t, 16>());
    default: return with_size(std::integral_constant<size_t, 0>());
  }
}
void pick_chunk(const std::byte* from, const int64_t* offset, int64_t n, int64_t used,
                std::byte* to) {
  with_pixel_size(used, [&](auto size) {
    if constexpr (size() != 0) return pick_sized<size()>(from, offset, n, to);
    for (int64_t k = 0; k < n; ++k)
      std::memcpy(to + k * used, from + offset[k], static_cast<size_t>(used));
  });
}

// Pixels are loaded whole up to the offset `last`, behind which that might leave the memory.
template <size_t kUsed>
void pick_sized_at(const std::byte* from, const int32_t* offset, int64_t last,
                   const std::byte* filled, int64_t n, std::byte* to) {
  constexpr size_t kLoad = std::bit_ceil(kUsed);
  for (int64_t k = 0; k < n; ++k, to += kUsed) {
    const std::byte* pixel = offset[k] == kNowhere ? filled : from + offset[k];
    if (offset[k] > last || k + 1 == n) std::memcpy(to, pixel, kUsed);
    else std::memcpy(to, pixel, kLoad);
  }
}

uint64_t load_eight(const std::byte* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void load_inside(const WarpedPixels& p, const Places& at, int64_t n, Pairs& to) {
  const std::byte *top = p.from, *bottom = top + p.row;
  for (int64_t i = 0; i < n; ++i) {
    to.top[i] = load_eight(top + at.offset[i]);
    to.bottom[i] = load_eight(bottom + at.offset[i]);
  }
}

// Where the last load of a row lies.
int64_t last_load(const WarpedPixels& p) { return (p.hi[1] - 1) * p.pixel + p.used - kByteLoad; }

// Loads pixels of bytes where their places may lie outside, and nothing that is not in memory.
class Border {
 public:
  explicit Border(const WarpedPixels& p)
      : p_(p),
        bits_(8 * p.pixel),
        fill_(std::to_integer<uint64_t>(p.fill[0]) * 0x0101010101010101u) {}

  void load(const Places& at, int64_t n, Pairs& to) const {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t y = whole_part(at.y[i]), x = whole_part(at.x[i]);
      to.top[i] = two(y, x);
      to.bottom[i] = FixedMean::fraction(at.y[i]) ? two(y + 1, x) : to.top[i];
    }
  }

 private:
  uint64_t two(int64_t y, int64_t x) const {
    const int64_t last = p_.extent[1] - 1;
    if (y < 0 || y >= p_.extent[0] || x < -1 || x > last) return fill_;
    const int64_t want = std::max<int64_t>(x, 0) * p_.pixel, at = std::min(want, last_load(p_));
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

// Border for pixels of floats, which are copied to a picture of its own: a pixel of that holds four
// values, and a place is made of two rows of two pixels.
struct FloatBorder {
  static constexpr int64_t kPixel = 16, kRow = 2 * kPixel, kPlace = 2 * kRow;
  alignas(64) std::byte pixels[kWarpChunk * kPlace];

  FloatPixels load(const WarpedPixels& p, Places& at, int64_t n) {
    float fill;
    std::memcpy(&fill, p.fill, sizeof fill);
    const float filled[] = {fill, fill, fill, fill};
    const auto put = [&](int64_t y, int64_t x, std::byte* to) {
      const bool is_inside = y >= 0 && y < p.extent[0] && x >= 0 && x < p.extent[1];
      std::memcpy(to, filled, kPixel);
      if (is_inside) std::memcpy(to, p.from + y * p.row + x * p.pixel, static_cast<size_t>(p.used));
    };
    for (int64_t i = 0; i < n; ++i) {
      std::byte* to = pixels + i * kPlace;
      const int64_t y = whole_part(at.y[i]), x = whole_part(at.x[i]);
      // A neighbour of weight 0 may not be in memory.
      const int64_t below = y + (FloatBlend<float>::fraction(at.y[i]) != 0),
                    beside = x + (FloatBlend<float>::fraction(at.x[i]) != 0);
      put(y, x, to);
      put(y, beside, to + kPixel);
      put(below, x, to + kRow);
      put(below, beside, to + kRow + kPixel);
      at.offset[i] = i * kPlace;
    }
    return {pixels, kRow, kPixel};
  }
};

}  // namespace

int64_t pick_load(int64_t used) {
  return used == 3 || used == 6 || used == 12
             ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(used)))
             : used;
}

void pick(const WarpedPixels& p, const PlaceRow& at, int64_t n, std::byte* to) {
  Places found;
  for (int64_t k = 0; k < n; k += kWarpChunk) {
    const int64_t some = std::min(kWarpChunk, n - k);
    find_places(p, at.behind(k), some, found);
    pick_chunk(p.from, found.offset, some, p.used, to + k * p.used);
  }
}

void pick_at(const WarpedPixels& p, const int32_t* offset, const std::byte* filled, int64_t n,
             std::byte* to) {
  const int64_t last_pixel =
      std::max<int64_t>((p.extent[0] - 1) * p.row, 0) + (p.extent[1] - 1) * p.pixel;
  with_pixel_size(p.used, [&](auto size) {
    if constexpr (size() != 0)
      return pick_sized_at<size()>(p.from, offset, last_pixel + p.used - p.load, filled, n, to);
    for (int64_t k = 0; k < n; ++k) {
      const std::byte* pixel = offset[k] == kNowhere ? filled : p.from + offset[k];
      std::memcpy(to + k * p.used, pixel, static_cast<size_t>(p.used));
    }
  });
}

bool has_byte_loads(const WarpedPixels& p) { return last_load(p) >= p.lo[1] * p.pixel; }

void warp_bytes(const WarpedPixels& p, bool inside, const PlaceRow& row, int64_t n,
                uint32_t* quads) {
  Places at;
  Pairs pairs;
  if (inside) {
    find_places(p, row, n, at);
    load_inside(p, at, n, pairs);
  } else {
    find_border(p, row, n, at);
    Border(p).load(at, n, pairs);
  }
  HWY_DYNAMIC_DISPATCH(BlendBytes)(pairs, at, p.pixel, n, quads);
}

void warp_floats(const WarpedPixels& p, bool inside, const PlaceRow& row, int64_t n, float* quads) {
  Places at;
  const auto blend = [&](const FloatPixels& from) {
    const int64_t read = std::min(kWarpChunk, n + 4);  // a vector reads as many pixels as it has
    std::fill(at.offset + n, at.offset + read, at.offset[n - 1]);
    HWY_DYNAMIC_DISPATCH(BlendFloats)(from, at, n, quads);
  };
  if (inside) {
    find_places(p, row, n, at);
    return blend({p.from, p.row, p.pixel});
  }
  find_border(p, row, n, at);
  FloatBorder border;
  blend(border.load(p, at, n));
}

}  // namespace stoker::rows
#endif
