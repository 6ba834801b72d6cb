// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The last axis of a fixed-point resampling: weighted sums along a line of int16 values, for the
// CPU that is there. All targets give the same bytes. Pure; thread-safe.
//
// Note [Lines]
// A vector holds neighbouring results, each a 32-bit lane, and takes two taps of every one of them
// at once: the two values of each lane are picked out of what was loaded, then multiplied with two
// weights and added. What can be picked from one load decides how far neighbours may lie apart:
// - kTight: one load holds the values of all taps; the picking moves on by two values for the next
//   two taps.
// - kNear: one load for two taps of all results.
// - kFar: the same with two vectors to pick from (AVX-512 only).
// - kEights: results lie too far apart for picking. Each loads eight neighbours at a time, and sums
//   over lanes at the end.
// How many values there are in a load, and how picking is told, differs between targets; so do
// LineTaps, and they are for the target that made them.
#pragma once
#include <cstdint>

#include "kernels/resample/taps.h"
#include "kernels/rows/rows.h"
#include "memory/arena.h"

namespace stoker::rows {

struct LineTaps {
  enum Reach : uint8_t { kTight, kNear, kFar, kEights };
  int64_t count = 0;  // of results
  int pairs = 0;  // of taps, up to a multiple of 4 for kEights
  Reach reach = kTight;
  const int32_t* first = nullptr;  // where the first values lie, from the first that any tap needs
  const int32_t* index = nullptr;  // what to pick
  const int16_t* weights = nullptr;
};
LineTaps line_taps(const TapTable<int16_t>& table, Arena& arena);

// Whether instructions of AVX-512 VNNI, where the CPU has them, are used; returns what was.
bool set_vnni_for_test(bool use);

// Pixels of 2 to 4 values as one line per channel, `pitch` values apart. Whole vectors are written:
// both sides have kVectorSlack pixels more.
inline constexpr int64_t kVectorSlack = 32;
void split_words(const int16_t* pixels, int channels, int16_t* planes, int64_t pitch, int64_t n);

// Lines that start at the table's first value, and where their results go: bytes, or what a step
// makes of the bytes.
struct Lines {
  const int16_t* values;
  int64_t count = 1, pitch = 0;  // in values
  const ValueStep* steps = nullptr;  // of each line. Requires: sums_into(all of them), to one type
  bool within = false;  // no weight of any axis was negative: results need no saturating
  void* out = nullptr;
  int64_t out_pitch = 0;  // in bytes
};
bool sums_into(const ValueStep& step);
void sum_lines(const Lines& lines, const LineTaps& taps);

// How many values must be readable behind a line.
inline int64_t line_slack(const LineTaps& taps) { return 2 * taps.pairs + 64; }

}  // namespace stoker::rows
