// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from a counter-based generator. Every draw depends on what it is for and on
// nothing else: not on threads, batches, shards or earlier draws.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/exact_math.h"
#include "base/hash.h"
#include "base/types.h"

namespace stoker {

// Saved with graphs and states. Another version means other draws.
inline constexpr int kRngVersion = 1;

struct Words {
  uint32_t w[4];
};

inline constexpr int kPhiloxRounds = 10;
inline constexpr uint32_t kPhiloxFactors[] = {0xd2511f53, 0xcd9e8d57};
inline constexpr uint32_t kPhiloxSteps[] = {0x9e3779b9, 0xbb67ae85};  // of the key

// Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2,
// 3; 2011).
STOKER_HD constexpr Words philox(Words counter, uint64_t key) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  constexpr uint64_t kFactor0 = kPhiloxFactors[0], kFactor1 = kPhiloxFactors[1];
  constexpr uint32_t kStep0 = kPhiloxSteps[0], kStep1 = kPhiloxSteps[1];
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t a = kFactor0 * counter.w[0], b = kFactor1 * counter.w[2];
    counter = {{static_cast<uint32_t>(b >> 32) ^ counter.w[1] ^ k0, static_cast<uint32_t>(b),
                static_cast<uint32_t>(a >> 32) ^ counter.w[3] ^ k1, static_cast<uint32_t>(a)}};
    k0 += kStep0;
    k1 += kStep1;
  }
  return counter;
}

namespace detail {

// The largest float below x.
STOKER_HD inline float below(float x) {
  if (x == 0) return -0x1p-149f;
  const uint32_t b = __builtin_bit_cast(uint32_t, x);
  return __builtin_bit_cast(float, x > 0 ? b - 1 : b + 1);
}

}  // namespace detail

// lo + (hi - lo) draw / 2^32, rounded to float. Never hi, unless lo is hi. Requires: lo <= hi, and
// both are finite.
STOKER_HD inline float uniform_of(uint32_t draw, float lo, float hi) {
  using exact::Num;
  const Num share = draw * 0x1p-32;
  const float x = static_cast<float>((Num(lo) + (Num(hi) - Num(lo)) * share).v);
  return x < hi || lo == hi ? x : detail::below(hi);
}
// True in ceil(p 2^32) of 2^32 cases: never for p = 0, always for p = 1.
STOKER_HD inline bool flip_of(uint32_t draw, double p) { return draw * 0x1p-32 < p; }

// Two independent numbers from the normal distribution with mean 0 and standard deviation 1 (Box
// and Muller: A note on the generation of random normal deviates; 1958). They are at most 6.8 away
// from 0.
struct NormalPair {
  double first, second;
};
STOKER_HD inline NormalPair normal_of(uint32_t draw, uint32_t other) {
  using exact::Num;
  const Num share = (Num(draw) + Num(0.5)) * Num(0x1p-32);
  const double radius = std::sqrt((Num(-2) * Num(exact::log_of_normal(share.v))).v);
  const exact::SinCos wave = exact::sin_cos_of_turn(other);
  return {(Num(radius) * Num(wave.cos)).v, (Num(radius) * Num(wave.sin)).v};
}

// The random numbers of one operator on one sample: an endless list of 32-bit draws, read in order
// or from anywhere. How many draws a function takes is part of its contract.
class Chance {
 public:
  // Requires: 0 <= position < 2^48. Draws up to number 2^50 are distinct.
  STOKER_HD Chance(uint64_t seed, uint64_t operator_key, int64_t epoch, int64_t position,
                   uint32_t child = 0)
      : key_(mix(seed, operator_key, static_cast<uint64_t>(epoch))),
        position_(static_cast<uint64_t>(position)),
        child_(child) {}

  // Draw number `draw`. The cursor stays where it is.
  STOKER_HD uint32_t bits(uint64_t draw) const { return block(draw / 4).w[draw % 4]; }
  // Draws 4 n to 4 n + 3: the cheapest way to get many.
  STOKER_HD Words block(uint64_t n) const { return philox(counter(n), key_); }
  // What Philox makes of block n. A position leaves 16 bits of the last word free; they take the
  // bits of n that the first word cannot.
  STOKER_HD Words counter(uint64_t n) const {
    return {{static_cast<uint32_t>(n), child_, static_cast<uint32_t>(position_),
             static_cast<uint32_t>(position_ >> 32) | static_cast<uint32_t>(n >> 32) << 16}};
  }
  STOKER_HD uint64_t key() const { return key_; }
  // The cursor is the number of the draw that next() gives. Element e of a tensor seeks to e times
  // the number of draws per element.
  STOKER_HD void seek(uint64_t draw) { cursor_ = draw; }
  STOKER_HD uint64_t tell() const { return cursor_; }

  // One draw of 32 bits.
  STOKER_HD uint32_t next() {
    if (cursor_ / 4 != cached_) {
      cached_ = cursor_ / 4;
      words_ = block(cached_);
    }
    return words_.w[cursor_++ % 4];
  }
  // Two draws; the first one is the higher half.
  STOKER_HD uint64_t next64() {
    const uint64_t high = next();
    return high << 32 | next();
  }
  // Two draws. A multiple of 2^-53 in [0, 1).
  STOKER_HD double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }
  // One draw. Requires: lo <= hi, and both are finite.
  STOKER_HD float uniform(float lo, float hi) { return uniform_of(next(), lo, hi); }
  // Two draws. floor(n k / 2^64), which is in [0, n), where k is one of 2^64 numbers. So the
  // chances of two values differ by no more than n / 2^64 of each. Requires: n > 0.
  STOKER_HD int64_t uniform_int(int64_t n) {
    return static_cast<int64_t>(high_product(next64(), static_cast<uint64_t>(n)));
  }
  // One draw.
  STOKER_HD bool flip(double p) { return flip_of(next(), p); }

 private:
  // The upper half of the 128-bit product.
  STOKER_HD static constexpr uint64_t high_product(uint64_t a, uint64_t b) {
    const uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffff)) >> 32);
  }
  uint64_t key_, position_;
  uint32_t child_;
  uint64_t cursor_ = 0, cached_ = UINT64_MAX;
  Words words_{};
};

}  // namespace stoker
