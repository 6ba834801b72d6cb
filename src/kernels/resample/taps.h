// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which input values make an output value of a ResampleAxis, and with which weights.
//
// Note [Taps]
// Output position o has its centre at c = lo + (o + 0.5) * (hi - lo) / out. `extent` is the input's
// full extent and never that of a window, so working on a window changes no weight. The filter
// chooses the input positions:
// - kNearest: the position floor(c), clamped into the input.
// - kLinear: the two positions around c - 0.5, each clamped.
// - the others: all positions whose centre is less than `radius` from c. The weight is f((position
//   + 0.5 - c) * support / radius), divided by the sum of these weights. f is the triangle (support
//   1), the cubic with a = -0.5 (support 2), Lanczos (support 3) or exp(-x^2) (support 2).
//   Positions outside of the input count only if the axis is `clamped`: then the weights of those
//   up to kMostOutside beyond either end go to the position at that end.
// The nearest position is taken instead where none is in reach or the weights nearly cancel.
// Weights are computed in double with + - * / and exact_math.h only: their bits are the same
// everywhere.
//
// Note [Gaussian table]
// A clamped axis with kGaussian is what scripts of NVIDIA DALI ask for, and gives what that gives.
// Its weights are exp(-x^2) at each 1/16, lie on lines between these, and fall to 0 from x = 2 to
// the next 1/16. They belong to ceil(2 radius) positions from the first one whose centre is not
// more than `radius` before c. Where a centre lies exactly on that edge, the rounding of float32
// decides whether the positions begin with it or end with its counterpart, whose weight is 2 % of
// the middle one's. So an axis that keeps its size is not kept as it is.
//
// Note [Fixed point]
// Resampling from uint8 to uint8 uses weights of 14 bits that sum to exactly 2^14. Between the
// axes, values are int16 with 6 fraction bits. An axis rounds by (sum + 2^13) >> 14, the last one
// by (sum + 2^19) >> 20; both saturate.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/block.h"
#include "memory/arena.h"

namespace stoker {

inline constexpr int kTapBits = 14;
inline constexpr int kFractionBits = 6;
inline constexpr int64_t kMostOutside = 1 << 14;

constexpr bool has_negative_weights(Filter f) {
  return f == Filter::kCubic || f == Filter::kLanczos3;
}

// Input positions [begin, end).
struct TapInterval {
  int64_t begin, end;
};

// See Note [Gaussian table].
inline constexpr double kGaussianEntries = 16;
constexpr bool is_tabled(const ResampleAxis& a) {
  return a.clamped && a.filter == Filter::kGaussian;
}
// The positions of output o of such an axis, also those outside of the input.
TapInterval tabled_reach(const ResampleAxis& axis, int64_t extent, int64_t o);

// The interval of the taps of output o. From one o to the next, its ends never decrease if hi >=
// lo, and never increase if hi < lo.
TapInterval tap_interval(const ResampleAxis& axis, int64_t extent, int64_t o);

int64_t most_taps(const ResampleAxis& axis, int64_t extent);

// Computes the taps of output o: a part of tap_interval without zero weights at its ends.
// `weights`, which sum to 1, has room for most_taps.
TapInterval taps_of(const ResampleAxis& axis, int64_t extent, int64_t o, double* weights);

// Whether output positions are input positions, so that the axis could be left out.
bool is_identity(const ResampleAxis& axis, int64_t extent);

// Turns weights into int16 that sum to exactly 2^kTapBits.
void quantise(std::span<const double> weights, int16_t* out);

// The taps of `count` outputs, at positions start + step * i. W is float, double or int16_t. Row i
// of `weights` has an even number of entries, `pitch`, which are zero behind the taps.
template <class W>
struct TapTable {
  int64_t count = 0, pitch = 0;
  const int32_t* first = nullptr;  // input position of the first tap, by output
  const int32_t* taps = nullptr;  // number of taps, at least 1, by output
  const W* weights = nullptr;
  int64_t begin = 0, end = 0;  // all taps lie in [begin, end)

  const W* row(int64_t i) const { return weights + i * pitch; }
};
// Requires: count > 0, all positions in [0, axis.out), extent < 2^31.
template <class W>
TapTable<W> tap_table(const ResampleAxis& axis, int64_t extent, int64_t start, int64_t step,
                      int64_t count, Arena& arena);

}  // namespace stoker
