// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of single 8-bit pixels. They compute in integers, so results are the same on every
// machine. Pure functions; thread-safe.
#pragma once
#include <algorithm>
#include <cstdint>

namespace stoker {

// BT.601 luma, rounded as libjpeg and Pillow round it.
constexpr uint8_t luma(int r, int g, int b) {
  return static_cast<uint8_t>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

struct Pixel3 {
  uint8_t a, b, c;
  bool operator==(const Pixel3&) const = default;
};

// ITU-R BT.601 with head and foot room: Y is in 16..235, Cb and Cr are in 16..240. The exact value
// is rounded half up.
constexpr Pixel3 ycbcr_of_rgb(int r, int g, int b) {
  constexpr int kOne = 255000, kHalf = kOne / 2;
  auto rounded = [](int offset, int v) {
    return static_cast<uint8_t>((offset * kOne + v + kHalf) / kOne);
  };
  return {rounded(16, 65481 * r + 128553 * g + 24966 * b),
          rounded(128, -37797 * r - 74203 * g + 112000 * b),
          rounded(128, 112000 * r - 93786 * g - 18214 * b)};
}

// Converts ink as Adobe stores it (255 = no ink), with the rounding of Pillow's CMYK to RGB.
constexpr Pixel3 rgb_of_inverted_cmyk(int c, int m, int y, int k) {
  auto part = [k](int inverted) {
    const int t = (255 - inverted) * k + 128;
    return static_cast<uint8_t>(std::max(0, k - (((t >> 8) + t) >> 8)));
  };
  return {part(c), part(m), part(y)};
}

}  // namespace stoker
