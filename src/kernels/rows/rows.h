// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over one row. All targets give the same bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "kernels/convert.h"
#include "kernels/resample/taps.h"
#include "memory/arena.h"

namespace stoker {

// A step on the values of one channel: Pointwise, Table, or only a change of type.
struct ValueStep {
  DType from, to;
  bool pointwise;
  float sub, mul, add;
  // A Table's list of so many entries, or null. For devices, an offset in the descriptors.
  const std::byte* list = nullptr;
  int64_t entries = 0;
  float div = 1;
};

namespace rows {

// to[i] = from[i] for values, or pixels, of `size` bytes. Strides are in bytes.
void copy(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t size,
          int64_t n);

// split makes a row for each channel, `pitch` bytes apart, of pixels of `channels` neighbouring
// values. join makes pixels of such rows.
void split(const void* pixels, int size, int channels, void* planes, int64_t pitch, int64_t n);
void join(const void* planes, int64_t pitch, int size, int channels, void* pixels, int64_t n);

// to[i] = from[n - 1 - i]. Requires: the rows do not overlap.
void reverse(const void* from, void* to, int size, int64_t n);

// Puts n values through all steps. Requires: at least one step; in and out do not overlap.
void apply(std::span<const ValueStep> steps, const void* in, void* out, int64_t n);

// Puts n values through a step that has a list.
void look_up(const ValueStep& step, const void* in, void* out, int64_t n);

// Resampling works across rows first and then along one: see Note [Fixed point] and Note [Taps].

// out[i] is the weighted sum of values i of `taps` rows, `stride` bytes apart. Fixed-point
// `weights` have a zero behind an odd number of taps.
void sum_rows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
              int16_t* out);
void sum_rows(const void* first, DType type, int64_t stride, const float* weights, int taps,
              int64_t n, float* out);

// The taps of a row of pixels with at most 4 channels, laid out for vectors of neighbouring values
// of the result. Values of the row that are near to each other are picked out of one load; else
// each pixel of the vector is loaded by itself.
struct PixelTaps {
  int64_t count = 0;
  int channels = 1, most = 1;  // most: the largest number of taps
  enum Way : uint8_t { kBlocks, kPick, kPickTwo } way = kBlocks;  // out of one vector or two
  // By lists of results, which are pixels for kBlocks and values for the others:
  const int32_t* first = nullptr;  // begin of each load, in values of the row
  const int32_t* index = nullptr;  // what to pick from a load
  const float* taps = nullptr;  // number of taps
  const float* weights = nullptr;  // by vectors: the first weights, the second, ...
  int64_t full_begin = 0, full_end = 0;  // these have the most taps
};
PixelTaps pixel_taps(const TapTable<float>& table, int channels, Arena& arena);

// How many values must be readable behind a row of pixels.
inline int64_t row_slack(const PixelTaps& taps) { return (taps.most + 8) * taps.channels + 32; }

// Writes the result's pixels one behind the other, with as many values as the row's. `row` starts
// at the table's first pixel and has its slack. line.h has the fixed-point counterpart.
void sum_pixels(const float* row, const PixelTaps& taps, void* pixels);

// The same in float64, for wide types. kWideSlack values must be readable behind the row.
inline constexpr int64_t kWideSlack = 4;
void sum_rows(const void* first, DType type, int64_t stride, const double* weights, int taps,
              int64_t n, double* sum);
void sum_pixels(const double* row, int channels, const TapTable<double>& taps, void* pixels);
// Converts values to a type, as convert_row does.
void round(const double* values, DType type, void* out, int64_t n);

}  // namespace rows
}  // namespace stoker
