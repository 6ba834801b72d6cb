// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over one row, for the CPU that is there. All targets give the same bytes. Pure;
// thread-safe.
#pragma once
#include <cstdint>
#include <span>

#include "base/types.h"
#include "kernels/convert.h"
#include "kernels/resample/taps.h"
#include "memory/arena.h"

namespace stoker {

// Pointwise or a mere change of type, of one channel.
struct ValueStep {
  DType from, to;
  bool pointwise;
  float sub, mul, add;
};

namespace rows {

// to[i] = from[i]: values of `size` bytes, strides in bytes.
void copy(const void* from, int64_t from_stride, void* to, int64_t to_stride, int size, int64_t n);

// Pixels of `channels` values next to each other, as one row per channel, `pitch` bytes apart; and
// back.
void split(const void* pixels, int size, int channels, void* planes, int64_t pitch, int64_t n);
void join(const void* planes, int64_t pitch, int size, int channels, void* pixels, int64_t n);

// to[i] = from[n - 1 - i]. Requires: they do not overlap.
void reverse(const void* from, void* to, int size, int64_t n);

// n values through all steps. Requires: at least one step; in and out do not overlap.
void apply(std::span<const ValueStep> steps, const void* in, void* out, int64_t n);

// Resampling, first across rows, then along one: see Note [Fixed point] and Note [Taps] of taps.h.

// out[i]: the weighted sum over rows that are `stride` bytes apart. Fixed: `weights` has a zero
// behind an odd number of taps.
void sum_rows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
              int16_t* out);
void sum_rows(const void* first, DType type, int64_t stride, const float* weights, int taps,
              int64_t n, float* out);

// Taps along a row of pixels of at most 4 channels, laid out for the CPU that is there.
struct PixelTaps {
  int64_t count = 0;
  int channels = 1, most = 1;  // taps
  const int32_t* first = nullptr;  // where each output's first tap begins, in values from the first
  // pixel of the row
  const float* taps = nullptr;  // how many, four times for each output
  const float* weights = nullptr;  // of some outputs at once, each weight four times
};
PixelTaps pixel_taps(const TapTable<float>& table, int channels, Arena& arena);

// What must be readable behind a row of pixels, and writable behind the result's quads, in values.
inline int64_t row_slack(const PixelTaps& taps) { return (taps.most + 8) * taps.channels; }
inline constexpr int64_t kQuadSlack = 16;

// Pixel i of the result as four values (those behind the last channel have no meaning). The row
// starts at the table's first pixel; both sides have their slack. Fixed-point rows: line.h.
void sum_pixels(const float* row, const PixelTaps& taps, float* quads);

}  // namespace rows
}  // namespace stoker
