// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of single pixels, of 8 bits unless said, in integers: the same on every machine.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace stoker {

// BT.601 luma of 8 or 16 bits, rounded as libjpeg and Pillow round it.
template <class T = uint8_t>
constexpr T luma(uint32_t r, uint32_t g, uint32_t b) {
  return static_cast<T>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

template <class T>
struct Pixel3Of {
  T a, b, c;
  bool operator==(const Pixel3Of&) const = default;
};
using Pixel3 = Pixel3Of<uint8_t>;

// ITU-R BT.601 with head and foot room: Y is in 16..235, Cb and Cr are in 16..240, or 257 times
// that in 16 bits. The exact value is rounded half up.
template <class T = uint8_t>
constexpr Pixel3Of<T> ycbcr_of_rgb(int r, int g, int b) {
  using Sum = std::conditional_t<sizeof(T) == 1, int, int64_t>;
  constexpr Sum kOne = 255000, kHalf = kOne / 2, kScale = std::numeric_limits<T>::max() / 255;
  auto rounded = [](Sum offset, Sum v) {
    return static_cast<T>((offset * kScale * kOne + v + kHalf) / kOne);
  };
  return {rounded(16, Sum{65481} * r + Sum{128553} * g + Sum{24966} * b),
          rounded(128, Sum{-37797} * r - Sum{74203} * g + Sum{112000} * b),
          rounded(128, Sum{112000} * r - Sum{93786} * g - Sum{18214} * b)};
}

// A value of 0 to `most` on the scale of 0 to `full`, to the nearest. Requires: both are < 65536.
constexpr uint32_t rescaled(uint32_t v, uint32_t most, uint32_t full) {
  return (v * full + most / 2) / most;
}

// Converts ink as Adobe stores it (255 = no ink), with the rounding of Pillow's CMYK to RGB.
template <class T = uint8_t>
constexpr Pixel3Of<T> rgb_of_inverted_cmyk(int c, int m, int y, int k) {
  using Product = std::conditional_t<sizeof(T) == 1, int, int64_t>;
  constexpr int kBits = 8 * sizeof(T), kMost = std::numeric_limits<T>::max();
  auto part = [k](int inverted) {
    const Product t = Product{kMost - inverted} * k + (kMost / 2 + 1);
    return static_cast<T>(std::max<Product>(0, k - (((t >> kBits) + t) >> kBits)));
  };
  return {part(c), part(m), part(y)};
}

}  // namespace stoker
