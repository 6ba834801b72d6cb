// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Mixing the channels of pixels: the block Channels with what follows from it.
//
// Note [Fixed-point pixels]
// From uint8 to uint8, weights and offsets are multiples of 2^-shift, and weights fit into 16 bits.
// With up to 4 channels and a shift of 10 or more, this is off by less than half a level. Weights
// of 32 or more would need a smaller shift, and are mixed in float32.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/block.h"
#include "kernels/convert.h"

namespace stoker {

struct ChannelMix {
  static constexpr int kMost = Channels::kMost;
  DType from, to;
  int in, out;
  float weight[kMost][kMost], offset[kMost];
  bool fixed;
  int shift;
  int16_t fixed_weight[kMost][kMost];
  int32_t fixed_offset[kMost];

  // Keeps channels first, first + step, ... of those that are made, `count` in all.
  void choose(int64_t first, int64_t step, int64_t count);
};
ChannelMix channel_mix(const Channels& c, DType from, DType to);

// Channel `made` of a pixel; value(k) is that of channel k.
template <class Value>
STOKER_HD inline uint8_t mix_fixed(const ChannelMix& m, int made, const Value& value) {
  int32_t sum = m.fixed_offset[made] + (1 << (m.shift - 1));
  for (int k = 0; k < m.in; ++k) sum += m.fixed_weight[made][k] * value(k);
  sum >>= m.shift;
  return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}
// The same in A, which is float or double; not rounded to the result's type.
template <class A, class Value>
STOKER_HD inline A mix_float(const ChannelMix& m, int made, const Value& value) {
  A sum = detail::mul_once(static_cast<A>(m.weight[made][0]), value(0));
  for (int k = 1; k < m.in; ++k)
    sum = detail::add_once(sum, detail::mul_once(static_cast<A>(m.weight[made][k]), value(k)));
  return detail::add_once(sum, static_cast<A>(m.offset[made]));
}

namespace rows {

// Makes n values of each channel. Channels are planes `pitch` bytes apart. Requires: no overlap.
void mix(const ChannelMix& m, const void* in, int64_t pitch, void* out, int64_t out_pitch,
         int64_t n);

// mix() for pixels of three bytes that become pixels of three bytes. Requires: mixes_pixels().
inline bool mixes_pixels(const ChannelMix& m) { return m.fixed && m.in == 3 && m.out == 3; }
void mix_pixels(const ChannelMix& m, const std::byte* in, std::byte* out, int64_t n);

}  // namespace rows
}  // namespace stoker
