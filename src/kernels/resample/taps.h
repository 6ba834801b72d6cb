// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which input values make an output value of a ResampleAxis, and with which weights. Pure;
// thread-safe.
//
// Note [Taps]
// Output position o has its centre at c = lo + (o + 0.5) * (hi - lo) / out. `extent` is the input's
// full extent, never that of a window, so working on a window changes no weight.
// - kNearest: the input position floor(c), clamped into the input.
// - kLinear: the two positions around c - 0.5, each clamped.
// - the others: all positions whose centre is less than `radius` from c, weighted by f((position +
//   0.5 - c) * support / radius) and divided by their sum. f is the triangle (support 1), the cubic
//   with a = -0.5 (2), lanczos (3) or exp(-x^2) (2).
// Outside of the input, or where the weights nearly cancel, it is the nearest position. Weights are
// made in double with + - * / and exact_math.h only, so their bits are equal everywhere.
//
// Note [Fixed point]
// uint8 to uint8 runs on weights of 14 bits that sum to exactly 2^14. Between the axes values keep
// 6 fraction bits in an int16: after an axis (sum + 2^13) >> 14, after the last one (sum + 2^19) >>
// 20, both saturated.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/block.h"
#include "memory/arena.h"

namespace stoker {

inline constexpr int kTapBits = 14;
inline constexpr int kFractionBits = 6;

constexpr bool has_negative_weights(Filter f) {
  return f == Filter::kCubic || f == Filter::kLanczos3;
}

// Input positions [begin, end).
struct TapRange {
  int64_t begin, end;
};

// Where the taps of `o` lie. Both ends never decrease from one o to the next if hi >= lo, never
// increase if hi < lo.
TapRange tap_range(const ResampleAxis& axis, int64_t extent, int64_t o);

// No output has more taps than this.
int64_t most_taps(const ResampleAxis& axis, int64_t extent);

// The taps of `o`, a part of tap_range without zeros at its ends. `weights` has room for most_taps;
// they sum to 1.
TapRange taps_of(const ResampleAxis& axis, int64_t extent, int64_t o, double* weights);

// Output positions are input positions: the axis could as well be left out.
bool is_identity(const ResampleAxis& axis, int64_t extent);

// Weights as int16 that sum to exactly 2^kTapBits.
void quantise(std::span<const double> weights, int16_t* out);

// The taps of the output positions start + step * i, i < count, with a weight type of float, double
// or int16_t. Row i of `weights` has `pitch` entries (even), zero behind the taps.
template <class W>
struct TapTable {
  int64_t count = 0, pitch = 0;
  const int32_t* first = nullptr;  // input position of the first tap
  const int32_t* taps = nullptr;  // how many, at least 1
  const W* weights = nullptr;
  int64_t begin = 0, end = 0;  // all taps lie in here

  const W* row(int64_t i) const { return weights + i * pitch; }
};
// Requires: count > 0, all positions in [0, axis.out), extent < 2^31.
template <class W>
TapTable<W> tap_table(const ResampleAxis& axis, int64_t extent, int64_t start, int64_t step,
                      int64_t count, Arena& arena);

}  // namespace stoker
