// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/mix.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "kernels/levels.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/mix.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pairs_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_SCALAR
using pairs::HWY_NAMESPACE::PackBytes;
using pairs::HWY_NAMESPACE::SetPairs;
using pairs::HWY_NAMESPACE::SumPairs;
#endif

// Mixes values i and on of all planes, and returns how many. Pairs of channels lie next to each
// other, so that a vector takes both at once.
template <int kIn>
HWY_INLINE void MixBytes(const ChannelMix& m, const uint8_t* in, int64_t pitch, uint8_t* out,
                         int64_t out_pitch, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<int16_t> dw;
  const hn::RepartitionToWide<decltype(dw)> ds;
  const hn::Rebind<uint8_t, decltype(dw)> db;
  constexpr int kPairs = (kIn + 1) / 2;
  const auto lanes = static_cast<int64_t>(hn::Lanes(dw));
  const auto load = [&](int k, int64_t at)
                        HWY_ATTR { return hn::PromoteTo(dw, hn::LoadU(db, in + k * pitch + at)); };
  for (bool rest = n >= lanes; rest; i += lanes) {
    if (i + lanes >= n) i = n - lanes, rest = false;  // mixes some values twice
    hn::Vec<decltype(dw)> low[kPairs], high[kPairs];
    for (int p = 0; p < kPairs; ++p) {
      const auto a = load(2 * p, i), b = 2 * p + 1 < kIn ? load(2 * p + 1, i) : hn::Zero(dw);
      low[p] = hn::InterleaveLower(dw, a, b);
      high[p] = hn::InterleaveUpper(dw, a, b);
    }
    for (int made = 0; made < m.out; ++made) {
      const auto offset = hn::Set(ds, m.fixed_offset[made] + (1 << (m.shift - 1)));
      auto s = hn::Zero(ds), t = s, other_s = s, other_t = s;
      for (int p = 0; p < kPairs; ++p) {
        const auto w = SetPairs(m.fixed_weight[made][2 * p], m.fixed_weight[made][2 * p + 1]);
        s = hn::ReorderWidenMulAccumulate(ds, low[p], w, s, other_s);
        t = hn::ReorderWidenMulAccumulate(ds, high[p], w, t, other_t);
      }
      s = hn::Add(hn::RearrangeToOddPlusEven(s, other_s), offset);
      t = hn::Add(hn::RearrangeToOddPlusEven(t, other_t), offset);
      // Interleaving and packing both stay within 128-bit blocks.
      const auto words =
          hn::ReorderDemote2To(dw, hn::ShiftRightSame(s, m.shift), hn::ShiftRightSame(t, m.shift));
      hn::StoreU(hn::DemoteTo(db, words), db, out + made * out_pitch + i);
    }
  }
  if (n >= lanes) return;
#endif
  for (; i < n; ++i)
    for (int made = 0; made < m.out; ++made)
      out[made * out_pitch + i] = mix_fixed(m, made, [&](int k) { return in[k * pitch + i]; });
}

void MixFixed(const ChannelMix& m, const uint8_t* in, int64_t pitch, uint8_t* out,
              int64_t out_pitch, int64_t n) {
  switch (m.in) {
    case 1: return MixBytes<1>(m, in, pitch, out, out_pitch, n);
    case 2: return MixBytes<2>(m, in, pitch, out, out_pitch, n);
    case 3: return MixBytes<3>(m, in, pitch, out, out_pitch, n);
    default: return MixBytes<4>(m, in, pitch, out, out_pitch, n);
  }
}

#if HWY_TARGET == HWY_SCALAR
void MixPixels(const ChannelMix& m, const uint8_t* in, uint8_t* out, int64_t n) {
  for (int64_t i = 0; i < 3 * n; i += 3)
    for (int made = 0; made < 3; ++made)
      out[i + made] = mix_fixed(m, made, [&](int k) { return in[i + k]; });
}
#else
using D8 = pairs::HWY_NAMESPACE::Bytes;
using D16 = pairs::HWY_NAMESPACE::Words;
using D32 = pairs::HWY_NAMESPACE::Longs;

// Four pixels in each block. One instruction sums up the products of a pixel's first two channels.
struct Threes {
  static constexpr int kMostBlocks = HWY_MAX_BYTES / 16;
  hn::Vec<D8> pairs, thirds, order;
  hn::Vec<D16> pair_weights[3], third_weights[3];
  hn::Vec<D32> offsets[3];
  decltype(hn::SetTableIndices(D32(), static_cast<const int32_t*>(nullptr))) spread, close;
  int shift;

  HWY_INLINE explicit Threes(const ChannelMix& m) : shift(m.shift) {
    alignas(16) uint8_t bytes[3][16];
    for (int k = 0; k < 16; ++k) {
      const int pixel = 3 * (k / 4), byte = k % 4;
      bytes[0][k] = static_cast<uint8_t>(byte % 2 == 0 ? pixel + byte / 2 : 0x80);
      bytes[1][k] = static_cast<uint8_t>(byte == 0 ? pixel + 2 : 0x80);
      bytes[2][k] = static_cast<uint8_t>(k < 12 ? k % 3 * 4 + k / 3 : 0x80);
    }
    pairs = hn::LoadDup128(D8(), bytes[0]);
    thirds = hn::LoadDup128(D8(), bytes[1]);
    order = hn::LoadDup128(D8(), bytes[2]);
    // Twelve bytes go into each block of 16, and back.
    HWY_ALIGN int32_t apart[4 * kMostBlocks] = {}, near[4 * kMostBlocks] = {};
    const auto blocks = static_cast<int>(hn::Lanes(D8())) / 16;
    for (int b = 0; b < blocks; ++b)
      for (int k = 0; k < 3; ++k) apart[4 * b + k] = 3 * b + k, near[3 * b + k] = 4 * b + k;
    spread = hn::SetTableIndices(D32(), apart);
    close = hn::SetTableIndices(D32(), near);
    for (int made = 0; made < 3; ++made) {
      pair_weights[made] = SetPairs(m.fixed_weight[made][0], m.fixed_weight[made][1]);
      third_weights[made] = hn::Set(D16(), m.fixed_weight[made][2]);
      offsets[made] = hn::Set(D32(), m.fixed_offset[made] + (1 << (m.shift - 1)));
    }
  }

  // Reads and writes whole vectors, of which three quarters are pixels.
  HWY_INLINE void Mix(const uint8_t* in, uint8_t* out) const {
    const auto moved = [](auto v, auto places)
                           HWY_ATTR { return hn::TableLookupLanes(hn::BitCast(D32(), v), places); };
    const auto v = hn::BitCast(D8(), moved(hn::LoadU(D8(), in), spread));
    const auto pair = hn::BitCast(D16(), hn::TableLookupBytesOr0(v, pairs)),
               third = hn::BitCast(D16(), hn::TableLookupBytesOr0(v, thirds));
    hn::Vec<D32> sums[3];
    for (int made = 0; made < 3; ++made) {
      const auto sum = SumPairs(pair, pair_weights[made], third, third_weights[made]);
      sums[made] = hn::ShiftRightSame(hn::Add(sum, offsets[made]), shift);
    }
    const auto words = hn::ReorderDemote2To(D16(), sums[0], sums[1]),
               last = hn::ReorderDemote2To(D16(), sums[2], sums[2]);
    const auto bytes = hn::TableLookupBytesOr0(PackBytes(words, last), order);
    hn::StoreU(hn::BitCast(D8(), moved(bytes, close)), D8(), out);
  }
};

void MixPixels(const ChannelMix& m, const uint8_t* in, uint8_t* out, int64_t n) {
  const Threes threes(m);
  const auto whole = static_cast<int64_t>(hn::Lanes(D8())), used = whole / 4 * 3;
  int64_t at = 0;
  for (; at + whole <= 3 * n; at += used) threes.Mix(in + at, out + at);
  HWY_ALIGN uint8_t rest_in[2 * HWY_MAX_BYTES] = {}, rest_out[2 * HWY_MAX_BYTES];
  const int64_t rest = 3 * n - at;  // less than a vector
  std::memcpy(rest_in, in + at, static_cast<size_t>(rest));
  for (int64_t k = 0; k < rest; k += used) threes.Mix(rest_in + k, rest_out + k);
  std::memcpy(out + at, rest_out, static_cast<size_t>(rest));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

// The largest shift up to 14 with which all weights fit into 16 bits.
int shift_of(double largest) {
  int shift = 14;
  while (largest * (1 << shift) + 0.5 >= 32768) --shift;
  return shift;
}
int32_t scaled(float v, int shift) {
  return static_cast<int32_t>(std::floor(static_cast<double>(v) * (1 << shift) + 0.5));
}

}  // namespace

ChannelMix channel_mix(const Channels& c, DType from, DType to) {
  constexpr float kLargestWeight = 31.9f, kLargestOffset = 65536;
  ChannelMix m{from, to, c.in, c.out, {}, {}, from == DType::kUint8 && to == DType::kUint8,
               0,    {}, {}};
  float largest = 0;
  for (int i = 0; i < c.out; ++i) {
    m.offset[i] = c.offset[i];
    std::copy(c.weight[i], c.weight[i] + c.in, m.weight[i]);
    m.fixed = m.fixed && std::fabs(c.offset[i]) <= kLargestOffset;
    for (int k = 0; k < c.in; ++k) {
      m.fixed = m.fixed && std::fabs(c.weight[i][k]) <= kLargestWeight;
      largest = std::max(largest, std::fabs(c.weight[i][k]));
    }
  }
  if (!m.fixed) return m;
  m.shift = shift_of(largest);
  for (int i = 0; i < c.out; ++i) {
    m.fixed_offset[i] = scaled(c.offset[i], m.shift);
    for (int k = 0; k < c.in; ++k)
      m.fixed_weight[i][k] = static_cast<int16_t>(scaled(c.weight[i][k], m.shift));
  }
  return m;
}

void ChannelMix::choose(int64_t first, int64_t step, int64_t count) {
  const ChannelMix all = *this;
  out = static_cast<int>(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t made = first + i * step;
    std::copy(all.weight[made], all.weight[made] + kMost, weight[i]);
    std::copy(all.fixed_weight[made], all.fixed_weight[made] + kMost, fixed_weight[i]);
    offset[i] = all.offset[made];
    fixed_offset[i] = all.fixed_offset[made];
  }
}

namespace rows {
namespace {

HWY_EXPORT(MixFixed);
HWY_EXPORT(MixPixels);

constexpr int64_t kChunk = 512;

template <class A>
void mix_chunk(const ChannelMix& m, const std::byte* in, int64_t pitch, std::byte* out,
               int64_t out_pitch, int64_t n) {
  const DType type = sizeof(A) == 4 ? DType::kFloat32 : DType::kFloat64;
  alignas(64) A v[ChannelMix::kMost][kChunk], made[kChunk];
  for (int k = 0; k < m.in; ++k) convert_row(in + k * pitch, m.from, v[k], type, n);
  for (int o = 0; o < m.out; ++o) {
    at_cpu_level([&] {
      for (int64_t i = 0; i < n; ++i) made[i] = mix_float<A>(m, o, [&](int k) { return v[k][i]; });
    });
    convert_row(made, type, out + o * out_pitch, m.to, n);
  }
}

}  // namespace

void mix(const ChannelMix& m, const void* in, int64_t pitch, void* out, int64_t out_pitch,
         int64_t n) {
  if (m.fixed)
    return HWY_DYNAMIC_DISPATCH(MixFixed)(m, static_cast<const uint8_t*>(in), pitch,
                                          static_cast<uint8_t*>(out), out_pitch, n);
  auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  const auto chunk = is_wide(m.from) || is_wide(m.to) ? mix_chunk<double> : mix_chunk<float>;
  for (int64_t i = 0; i < n; i += kChunk)
    chunk(m, from + i * size_of(m.from), pitch, to + i * size_of(m.to), out_pitch,
          std::min(kChunk, n - i));
}

void mix_pixels(const ChannelMix& m, const std::byte* in, std::byte* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MixPixels)
  (m, reinterpret_cast<const uint8_t*>(in), reinterpret_cast<uint8_t*>(out), n);
}

}  // namespace rows
}  // namespace stoker
#endif
