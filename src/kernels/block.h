// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks are what operators lower to: plain data that composes, so that a run of operators becomes
// one pass over memory, on the CPU or on a device. Positions are in full coordinates (base/view.h).
//
// Note [Rounding]
// Every block names the dtype that its result is rounded to. A fused pass rounds there too, in
// registers, so it gives the bytes that the blocks give one by one. Arithmetic is in float32, or in
// float64 when the input or the result is float64 or a 32- or 64-bit integer. Operations run one
// after the other and are never contracted. A float becomes an integer by rounding halves away from
// zero and saturating, with 0 for NaN; true if it is a half or more away from zero, or NaN; and a
// float16 by rounding halves to even, as IEEE 754 does. Resample and Warp from uint8 to uint8 are
// integer arithmetic (kernels/resample/taps.h, kernels/warp/warp_map.h), the same on every CPU and
// device.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/small.h"
#include "base/types.h"
#include "kernels/border.h"

namespace stoker {

// Output position p of an axis is input position start + step * p. Requires: step is not 0.
struct AxisMap {
  int64_t start = 0, step = 1, extent = 0;
  bool operator==(const AxisMap&) const = default;
};

// Each output value is one input value, chosen axis by axis (crop, slice, flip, pad). A position
// outside the input gives `fill`, which has one value or one per channel (axis C of the layout).
struct Gather {
  AxisMap axis[kMaxRank];
  Small<float> fill = {0};

  static Gather identity(const Shape& s) {
    Gather g;
    for (int a = 0; a < s.rank; ++a) g.axis[a] = {0, 1, s[a]};
    return g;
  }
};

enum class Filter : uint8_t { kNearest, kLinear, kCubic, kLanczos3, kTriangular, kGaussian };

// Output positions [0, out) of `axis` cover the input interval [lo, hi); hi < lo mirrors the axis.
// `radius` is half of the filter's width in input positions. Beyond the input, the filter takes the
// outermost value if `clamped`, else nothing. kernels/resample/taps.h has the exact definition.
struct ResampleAxis {
  int axis = 0;
  int64_t out = 0;
  double lo = 0, hi = 0;
  Filter filter = Filter::kLinear;
  double radius = 1;
  bool clamped = false;
};

// Separable resampling along up to three axes, outermost first. An axis that keeps its scale and
// extent counts as absent. Where all axes are kNearest, values are moved without arithmetic.
struct Resample {
  int count = 0;
  ResampleAxis axis[3];
};

// Values from anywhere along up to three axes, outermost first. Position p of an axis covers [p, p
// + 1), so its centre is p + 1/2. An output value shows the input at the point (matrix * centre +
// offset) / (divisor * centre + divisor_offset). kernels/warp/warp_map.h has the exact definition.
// Requires: all extents along these axes, before and after, lie in [1, 2^28); divisor_offset is 1
// where there is no perspective.
struct Warp {
  static constexpr int kMost = 3;
  int count = 2;
  int axis[kMost] = {};
  int64_t out[kMost] = {};
  double matrix[kMost][kMost] = {}, offset[kMost] = {};
  // kNearest shows the value in which the point lies, kLinear and kCubic what is between its
  // neighbours. kCubic needs two axes.
  Filter filter = Filter::kLinear;
  // What lies outside of the input. The constant is `fill`, rounded to the result's type: a number
  // for each channel or one for all, and 0 if there is none.
  Border border = Border::kClamp;
  Small<float> fill = {};
  double divisor[kMost] = {}, divisor_offset = 1;

  bool is_between() const { return filter != Filter::kNearest; }
  bool has_perspective() const { return divisor[0] != 0 || divisor[1] != 0 || divisor[2] != 0; }
};

// (v - sub) * mul / div + add, with one value per channel (axis C) or one for all. An empty list
// means 0 where it is subtracted or added, and else 1. The division is exact, and rounded once.
struct Pointwise {
  Small<float> sub, mul, add, div;
};

struct Convert {};

// The lists of a Table, made once and shared, as they may be long. A list has the values for 0, 1,
// ..., entries - 1, and behind them the one for all other numbers.
struct TableLists {
  DType dtype;
  int64_t lists, entries;  // entries: at least 256, so that every byte has one
  std::vector<std::byte> bytes;  // list after list

  int64_t pitch() const { return (entries + 1) * size_of(dtype); }  // from one list to the next
};

// `values` has `lists` lists of the same length, one after the other. Numbers without a value in
// them get `fallback`. All are converted to `dtype`.
std::shared_ptr<const TableLists> table_lists(std::span<const float> values, int64_t lists,
                                              float fallback, DType dtype);

// Looks up each value, with one list per channel (axis C) or one for all. Requires: the input is of
// whole numbers or bool, and the result's dtype is that of the lists.
struct Table {
  std::shared_ptr<const TableLists> lists;
};

// Mixes the channels of each pixel (axis C). Output channel i is weight[i][0] * v[0] + weight[i][1]
// * v[1] + ... + offset[i], summed in this order. From uint8 to uint8 this is integer arithmetic
// within 1 of the exact result, unless the numbers are too large for it (kernels/rows/mix.h).
// Requires: the input has a channel axis of extent `in`.
struct Channels {
  static constexpr int kMost = 4;
  int in = 3, out = 3;
  float weight[kMost][kMost] = {}, offset[kMost] = {};
};

// Moves axes: output axis a is input axis perm[a]. Then axis `pad_axis` of the output grows to
// `pad_to`. The new positions get `fill`: one value, or fill[c] at position c of the channel axis.
struct Store {
  int perm[kMaxRank] = {0, 1, 2, 3, 4, 5};
  Layout layout;  // of the output
  int pad_axis = -1;  // -1: none
  int64_t pad_to = 0;
  Small<float> fill = {0};
};

using BlockKind = std::variant<Gather, Resample, Pointwise, Convert, Store, Table, Channels, Warp>;

struct Block {
  BlockKind kind;
  DType result = DType::kUint8;
};

// The type of a block's result for an input of type `in`. Extents may be -1, which is unknown,
// where the block neither sets nor pads them.
TensorType after(const Block& block, const TensorType& in);
TensorType after(std::span<const Block> blocks, TensorType in);

// Whether every value keeps its number, its type and its place.
bool is_identity(const Block& block, const TensorType& in);

// The window of the blocks' input that suffices for the window `wanted` of their output. It lies in
// the input, and is empty only where the input or `wanted` is.
Window demand(std::span<const Block> blocks, const TensorType& in, const Window& wanted);

}  // namespace stoker
