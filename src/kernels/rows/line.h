// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The last axis of a fixed-point resampling: weighted sums along a line of int16 values. All
// targets give the same bytes.
//
// Note [Lines]
// A vector holds neighbouring results, one in each 32-bit lane, and takes two taps of all of them
// at once: each lane picks two values out of what was loaded, multiplies them by two weights and
// adds the products. How far apart neighbours may lie depends on what can be picked from one load:
// - kTight: one load holds the values of all taps. For the next two taps, picking moves on by two
//   values.
// - kNear: one load holds the values of two taps of all results.
// - kFar: the same, with two vectors to pick from (AVX-512 only).
// - kEights: results lie too far apart for picking. Each result loads eight neighbouring values at
//   a time, and its lanes are summed at the end.
//
// Loads and indices differ between the levels of CPUs that this is compiled for, which Highway
// calls targets. So a LineTaps is valid only for the target that made it.
#pragma once
#include <cstdint>

#include "kernels/resample/taps.h"
#include "kernels/rows/rows.h"
#include "memory/arena.h"

namespace stoker::rows {

struct LineTaps {
  enum Reach : uint8_t { kTight, kNear, kFar, kEights };
  int64_t count = 0;  // number of results
  int pairs = 0;  // pairs of taps; a multiple of 4 for kEights
  Reach reach = kTight;
  const int32_t* first = nullptr;  // begin of each load, from the first value that a tap needs
  const int32_t* index = nullptr;  // what to pick from a load
  const int16_t* weights = nullptr;
};
LineTaps line_taps(const TapTable<int16_t>& table, Arena& arena);

// Whether AVX-512 VNNI is used, where the CPU has it. Returns the former setting.
bool set_vnni_for_test(bool use);

// Splits pixels of 2 to 4 values into a line for each channel, `pitch` values apart. Whole vectors
// are loaded and stored: both sides have room for kVectorSlack pixels more.
inline constexpr int64_t kVectorSlack = 32;
void split_words(const int16_t* pixels, int channels, int16_t* planes, int64_t pitch, int64_t n);

// Lines that start at the table's first value. Results are bytes, or what a step makes of them.
struct Lines {
  const int16_t* values;
  int64_t count = 1, pitch = 0;  // pitch in values
  const ValueStep* steps = nullptr;  // one per line, or null. Requires: sums_into(each), one type
  bool within = false;  // no axis has negative weights, so results need no saturating
  void* out = nullptr;
  int64_t out_pitch = 0;  // bytes
};
// Whether sum_lines() can do this step.
bool sums_into(const ValueStep& step);
void sum_lines(const Lines& lines, const LineTaps& taps);

// How many values behind a line must be readable.
inline int64_t line_slack(const LineTaps& taps) { return 2 * taps.pairs + 64; }

}  // namespace stoker::rows
