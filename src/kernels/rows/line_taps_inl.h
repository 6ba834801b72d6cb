// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes LineTaps: see Note [Lines]. Compiled for each target, as Highway's -inl files are.
#include <algorithm>
#include <cstring>

#include "kernels/rows/line.h"

#if defined(STOKER_LINE_TAPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_LINE_TAPS_INL_H
#undef STOKER_LINE_TAPS_INL_H
#else
#define STOKER_LINE_TAPS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kPerBase results pick from one load, with first values at most kReach apart, or kFarReach for
// kFar. -1 means never.
#if HWY_TARGET == HWY_SCALAR
constexpr int64_t kLanes = 1, kPerBase = 1, kReach = -1, kFarReach = -1;
#elif HWY_TARGET <= HWY_AVX3
constexpr int64_t kLanes = 16, kPerBase = 16, kReach = 31, kFarReach = 62;
#else
constexpr int64_t kLanes = HWY_LANES(int32_t), kPerBase = 4, kReach = 6, kFarReach = -1;
#endif

// The index of a pair of values, for a load that begins `from` values before the pair.
HWY_INLINE int32_t IndexOf(int32_t from, LineTaps::Reach reach) {
#if HWY_TARGET <= HWY_AVX3
  // kFar picks two words. The others pick one of 32 double words, 16 of which begin one word later.
  return reach == LineTaps::kFar ? from | (from + 1) << 16 : from >> 1 | (from & 1) << 4;
#else
  (void)reach;
  return 0x03020100 + 0x02020202 * from;
#endif
}

struct LineSpread {
  int64_t most = 0;  // largest distance between first values that share a base
  int pairs = 1;
};
HWY_INLINE LineSpread SpreadOf(const TapTable<int16_t>& t) {
  LineSpread s;
  int32_t most_taps = 1;
  for (int64_t o = 0; o < t.count; ++o) most_taps = std::max(most_taps, t.taps[o]);
  s.pairs = (most_taps + 1) / 2;
  for (int64_t o = 0; o < t.count; o += kPerBase) {
    const auto [low, high] =
        std::minmax_element(t.first + o, t.first + std::min(o + kPerBase, t.count));
    s.most = std::max<int64_t>(s.most, *high - *low);
  }
  return s;
}
HWY_INLINE LineTaps::Reach ReachOf(const LineSpread& s) {
  if (s.most + 2 * (s.pairs - 1) <= kReach) return LineTaps::kTight;
  if (s.most <= kReach) return LineTaps::kNear;
  return s.most <= kFarReach ? LineTaps::kFar : LineTaps::kEights;
}

HWY_INLINE void PlanPicking(const TapTable<int16_t>& t, int64_t padded, LineTaps& l, Arena& arena) {
  auto* first = arena.array<int32_t>(static_cast<size_t>(padded / kPerBase));
  auto* index = arena.array<int32_t>(static_cast<size_t>(padded));
  auto* weights = arena.array<int32_t>(static_cast<size_t>(padded * l.pairs));
  l.first = first;
  l.index = index;
  l.weights = reinterpret_cast<int16_t*>(weights);
  for (int64_t g = 0; g < padded; g += kPerBase) {
    const int64_t a = std::min(g, t.count - 1), b = std::min(g + kPerBase, t.count);
    const int32_t base = *std::min_element(t.first + a, t.first + std::max(a + 1, b));
    first[g / kPerBase] = static_cast<int32_t>(base - t.begin);
    for (int64_t o = g; o < g + kPerBase; ++o)
      index[o] = IndexOf(t.first[std::min(o, t.count - 1)] - base, l.reach);
  }
  for (int64_t g = 0; g < padded; g += kLanes)
    for (int64_t i = 0; i < kLanes; ++i) {
      const int16_t* from = t.row(std::min(g + i, t.count - 1));
      int32_t* to = weights + g * l.pairs + i;
      for (int p = 0; p < l.pairs; ++p) std::memcpy(to + p * kLanes, from + 2 * p, 4);
    }
}

HWY_INLINE void PlanEights(const TapTable<int16_t>& t, int64_t padded, LineTaps& l, Arena& arena) {
  l.pairs = (l.pairs + 3) / 4 * 4;
  const int64_t taps = 2 * l.pairs, blocks = kLanes / 4;
  auto* first = arena.array<int32_t>(static_cast<size_t>(padded));
  auto* weights = arena.array<int16_t>(static_cast<size_t>(padded * taps));
  l.first = first;
  l.weights = weights;
  for (int64_t o = 0; o < padded; ++o) {
    const int64_t from = std::min(o, t.count - 1), place = o % kLanes;
    first[o] = static_cast<int32_t>(t.first[from] - t.begin);
    // Block b of the group's vector j holds result 4 b + j.
    int16_t* to = weights + (o - place) * taps + (place % 4 * blocks + place / 4) * 8;
    for (int64_t i = 0; i < taps; i += 8, to += kLanes * 8)
      for (int64_t k = 0; k < 8; ++k) to[k] = i + k < t.pitch ? t.row(from)[i + k] : int16_t{0};
  }
}

LineTaps MakeLineTaps(const TapTable<int16_t>& t, Arena& arena) {
  const LineSpread spread = SpreadOf(t);
  const int64_t padded = (t.count + kLanes - 1) / kLanes * kLanes;
  LineTaps l{t.count, spread.pairs, ReachOf(spread)};
#if HWY_TARGET == HWY_SCALAR
  auto* first = arena.array<int32_t>(static_cast<size_t>(padded));
  auto* weights = arena.array<int16_t>(static_cast<size_t>(padded * 2 * l.pairs));
  l.first = first;
  l.weights = weights;
  for (int64_t o = 0; o < padded; ++o) {
    first[o] = static_cast<int32_t>(t.first[o] - t.begin);
    std::copy_n(t.row(o), 2 * l.pairs, weights + o * 2 * l.pairs);
  }
#else
  if (l.reach == LineTaps::kEights) PlanEights(t, padded, l, arena);
  else PlanPicking(t, padded, l, arena);
#endif
  return l;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#endif
