// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of JPEG's decoders, value by value in integers, with the roundings of
// libjpeg-turbo's accurate transform and smooth upsampling. The loops of this room are faster.
#pragma once
#include <cstdint>

#include "base/types.h"

namespace stoker::jpeg {

STOKER_HD inline uint8_t byte_of(int32_t v) {
  return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}
STOKER_HD inline void set_rgb(int32_t y, int32_t cb, int32_t cr, uint8_t* rgb) {
  constexpr int32_t kHalf = 1 << 15;
  cb -= 128, cr -= 128;
  rgb[0] = byte_of(y + ((91881 * cr + kHalf) >> 16));
  rgb[1] = byte_of(y + ((-22554 * cb - 46802 * cr + kHalf) >> 16));
  rgb[2] = byte_of(y + ((116130 * cb + kHalf) >> 16));
}

// Interpolation where one direction is halved: the value at position p of that direction.
STOKER_HD inline int32_t across(int32_t near, int32_t far, int64_t p) {
  return (3 * near + far + 1 + static_cast<int32_t>(p & 1)) >> 2;
}
// Where both are halved: rows are summed up, then columns x of these sums.
STOKER_HD inline int32_t across_rows(int32_t near, int32_t far) { return 3 * near + far; }
STOKER_HD inline int32_t across_columns(int32_t near, int32_t far, int64_t x) {
  return (3 * near + far + 8 - static_cast<int32_t>(x & 1)) >> 4;
}
// The second nearest of n positions of chroma to position p of the pixels.
STOKER_HD inline int64_t far_of(int64_t p, int64_t n) {
  const int64_t far = p % 2 ? p / 2 + 1 : p / 2 - 1;
  return far < 0 ? 0 : far < n ? far : n - 1;
}

template <int kShift>
STOKER_HD int32_t rounded(int32_t v) {
  return (v + (1 << (kShift - 1))) >> kShift;
}
STOKER_HD inline void mix_odd(int32_t (&v)[4]) {
  const int32_t a = v[0], b = v[1], c = v[2], d = v[3];
  v[0] = 11363 * a + 9633 * b + 6437 * c + 2260 * d;
  v[1] = 9633 * a - 2259 * b - 11362 * c - 6436 * d;
  v[2] = 6437 * a - 11362 * b + 2261 * c + 9633 * d;
  v[3] = 2260 * a - 6436 * b + 9633 * c - 11363 * d;
}
// Eight coefficients, `stride` apart, become values of 2^(13 - kShift) times their size.
template <int kShift>
STOKER_HD void from_waves(int32_t* v, int stride) {
  const int32_t sum = (v[0] + v[4 * stride]) * 8192, difference = (v[0] - v[4 * stride]) * 8192;
  const int32_t c = 4433 * v[2 * stride] - 10704 * v[6 * stride];
  const int32_t d = 10703 * v[2 * stride] + 4433 * v[6 * stride];
  const int32_t even[4] = {sum + d, difference + c, difference - c, sum - d};
  int32_t odd[4] = {v[stride], v[3 * stride], v[5 * stride], v[7 * stride]};
  mix_odd(odd);
  for (int k = 0; k < 4; ++k) {
    v[k * stride] = rounded<kShift>(even[k] + odd[k]);
    v[(7 - k) * stride] = rounded<kShift>(even[k] - odd[k]);
  }
}

}  // namespace stoker::jpeg
