// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// IEEE binary16 in plain integer and float arithmetic, with the same bits with and without hardware
// support.
#pragma once
#include <cstdint>

#include "base/types.h"

namespace stoker {

struct Half {
  uint16_t bits = 0;
};

// Exact. A GPU's own conversion serves for numbers only, as it would lose the bits of a NaN.
STOKER_HD inline float to_float(Half h) {
#ifdef __CUDA_ARCH__
  if ((h.bits & 0x7fff) <= 0x7c00) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
    return f;
  }
#endif
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16, rest = h.bits & 0x7fff;
  if (rest < 0x0400) {  // zero or subnormal: a multiple of 2^-24
    const float small = static_cast<float>(static_cast<int32_t>(rest)) * 0x1p-24f;
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, small) | sign);
  }
  const uint32_t bias = rest < 0x7c00 ? (127 - 15) << 23 : (255 - 31) << 23;
  return __builtin_bit_cast(float, sign | ((rest << 13) + bias));
}

// Rounds to nearest, ties to even. A value that is too large becomes infinity, and every NaN
// becomes the quiet one of its sign.
STOKER_HD inline Half to_half(float f) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, f), x = bits & 0x7fffffff;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (x > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
#ifdef __CUDA_ARCH__
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return {h};
#else
  if (x < 0x38800000) {  // below 2^-14
    // A float next to 0.5 has steps of 2^-24, so the addition rounds.
    const float aligned = __builtin_bit_cast(float, x) + 0.5f;
    return {static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, aligned) - 0x3f000000))};
  }
  const uint32_t rounded = (x + 0xfff + (x >> 13 & 1)) >> 13;
  const uint32_t h = rounded - ((127 - 15) << 10);
  return {static_cast<uint16_t>(sign | (h < 0x7c00 ? h : 0x7c00))};
#endif
}

// Rounds once: the float in between is rounded to odd, which keeps what the second rounding has to
// know.
STOKER_HD inline Half to_half(double d) {
  const float f = static_cast<float>(d);
  const double back = static_cast<double>(f);
  if (back == d || d != d) return to_half(f);
  uint32_t bits = __builtin_bit_cast(uint32_t, f);
  if ((back < 0 ? -back : back) > (d < 0 ? -d : d)) --bits;
  return to_half(__builtin_bit_cast(float, bits | 1));
}

}  // namespace stoker
