// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators lower to: plain data that composes, so that a run of operators becomes one pass
// over memory on either device. All positions are in full coordinates (base/view.h). Values;
// thread-safe as such.
//
// Note [Rounding]
// Every block names the dtype its result is rounded to, and a fused run rounds there too, in
// registers. So fused equals separate byte for byte. Arithmetic is float32 (float64 when the input
// or the result is float64 or a 32- or 64-bit integer), one operation after the other, never
// contracted; float to integer rounds half to even and saturates, NaN becomes 0. Resample on uint8
// with a uint8 result is integer arithmetic (kernels/resample/taps.h), so it is the same on every
// CPU and device.
#pragma once
#include <span>
#include <variant>

#include "base/small.h"
#include "base/types.h"

namespace stoker {

// Output position p of an axis comes from input position start + step * p. Requires: step is not 0.
struct AxisMap {
  int64_t start = 0, step = 1, extent = 0;
  bool operator==(const AxisMap&) const = default;
};

// Each output value is one input value, chosen axis by axis (crop, slice, flip, pad). A position
// outside the input gives `fill`: one value, or one per channel (axis C of the layout).
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

// Output positions [0, out) of `axis` cover the input interval [lo, hi) (hi < lo mirrors). `radius`
// is half of the filter's width in input positions; exact definition: kernels/resample/taps.h.
struct ResampleAxis {
  int axis = 0;
  int64_t out = 0;
  double lo = 0, hi = 0;
  Filter filter = Filter::kLinear;
  double radius = 1;
};

// Separable resampling along up to three axes (resize, random_resized_crop). Axes outermost first.
// An axis that keeps its scale and extent is as if it were not there; where all axes are kNearest,
// values are moved and not computed with.
struct Resample {
  int count = 0;
  ResampleAxis axis[3];
};

// (v - sub) * mul + add, per channel (axis C) or one value for all; an empty list is 0, 1, 0.
struct Pointwise {
  Small<float> sub, mul, add;
};

// The value itself in another dtype: exact where it fits, else saturated.
struct Convert {};

// Moves axes: output axis a is input axis perm[a]; then axis `pad_axis` (of the output) grows to
// `pad_to` with `fill` (one value, or one per added channel position: fill[c] for channel c).
struct Store {
  int perm[kMaxRank] = {0, 1, 2, 3, 4, 5};
  Layout layout;  // of the output
  int pad_axis = -1;  // -1: none
  int64_t pad_to = 0;
  Small<float> fill = {0};
};

struct Block {
  std::variant<Gather, Resample, Pointwise, Convert, Store> kind;
  DType result = DType::kUint8;
};

// The type that a block makes of a type. Requires: the shape is fully known.
TensorType after(const Block& block, const TensorType& in);
TensorType after(std::span<const Block> blocks, TensorType in);

// Every value stays what and where it is.
bool is_identity(const Block& block, const TensorType& in);

// The window of the run's input that suffices for the window `wanted` of its output. Never empty.
Window demand(std::span<const Block> blocks, const TensorType& in, const Window& wanted);

}  // namespace stoker
