// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks are what operators lower to. They are plain data and compose, so that a run of operators
// becomes one pass over memory, on the CPU or on a device. All positions are in full coordinates
// (base/view.h). Plain values: concurrent reads are safe.
//
// Note [Rounding]
// Every block names the dtype that its result is rounded to. A fused pass rounds there too, in
// registers, so it gives the bytes that the blocks give one by one. Arithmetic is in float32, or in
// float64 when the input or the result is float64 or a 32- or 64-bit integer. Operations run one
// after the other and are never contracted. A float becomes an integer by rounding half to even and
// saturating; NaN becomes 0. Resample from uint8 to uint8 is integer arithmetic
// (kernels/resample/taps.h), so it is the same on every CPU and device.
#pragma once
#include <span>
#include <variant>

#include "base/small.h"
#include "base/types.h"

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
// `radius` is half of the filter's width in input positions. kernels/resample/taps.h has the exact
// definition.
struct ResampleAxis {
  int axis = 0;
  int64_t out = 0;
  double lo = 0, hi = 0;
  Filter filter = Filter::kLinear;
  double radius = 1;
};

// Separable resampling along up to three axes, outermost first (resize, random_resized_crop). An
// axis that keeps its scale and extent counts as absent. Where all axes are kNearest, values are
// moved without arithmetic.
struct Resample {
  int count = 0;
  ResampleAxis axis[3];
};

// (v - sub) * mul + add, with one value per channel (axis C) or one for all. An empty list means 0,
// 1 and 0, in this order.
struct Pointwise {
  Small<float> sub, mul, add;
};

// Changes the dtype. A value that the new dtype cannot hold is rounded and saturated.
struct Convert {};

// Moves axes: output axis a is input axis perm[a]. Then axis `pad_axis` of the output grows to
// `pad_to`. The new positions get `fill`: one value, or fill[c] at position c of the channel axis.
struct Store {
  int perm[kMaxRank] = {0, 1, 2, 3, 4, 5};
  Layout layout;  // of the output
  int pad_axis = -1;  // -1: none
  int64_t pad_to = 0;
  Small<float> fill = {0};
};

using BlockKind = std::variant<Gather, Resample, Pointwise, Convert, Store>;

struct Block {
  BlockKind kind;
  DType result = DType::kUint8;
};

// The type of a block's result for an input of type `in`. Extents may be unknown (-1) where the
// block neither sets nor pads them.
TensorType after(const Block& block, const TensorType& in);
TensorType after(std::span<const Block> blocks, TensorType in);

// True when every value keeps its value, its type and its place.
bool is_identity(const Block& block, const TensorType& in);

// The window of the blocks' input that suffices for the window `wanted` of their output. It lies in
// the input, and is empty only where the input or `wanted` is.
Window demand(std::span<const Block> blocks, const TensorType& in, const Window& wanted);

}  // namespace stoker
