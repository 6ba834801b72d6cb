// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/color.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stoker {
namespace {

int nearest(double v) { return static_cast<int>(std::floor(v + 0.5)); }

TEST(Color, LumaIsBt601Rounded) {
  EXPECT_EQ(luma(0, 0, 0), 0);
  EXPECT_EQ(luma(255, 255, 255), 255);
  for (int r = 0; r < 256; r += 5)
    for (int g = 0; g < 256; g += 3)
      for (int b = 0; b < 256; b += 5)
        EXPECT_NEAR(luma(r, g, b), 0.299 * r + 0.587 * g + 0.114 * b, 0.502);
}

TEST(Color, YcbcrIsTheExactValueRounded) {
  EXPECT_EQ(ycbcr_of_rgb(0, 0, 0), (Pixel3{16, 128, 128}));
  EXPECT_EQ(ycbcr_of_rgb(255, 255, 255), (Pixel3{235, 128, 128}));
  EXPECT_EQ(ycbcr_of_rgb(255, 0, 0), (Pixel3{81, 90, 240}));
  EXPECT_EQ(ycbcr_of_rgb(0, 0, 255), (Pixel3{41, 240, 110}));
  for (int r = 0; r < 256; r += 5)
    for (int g = 0; g < 256; g += 3)
      for (int b = 0; b < 256; b += 5) {
        const Pixel3 p = ycbcr_of_rgb(r, g, b);
        EXPECT_EQ(p.a, nearest(16 + (65.481 * r + 128.553 * g + 24.966 * b) / 255));
        EXPECT_EQ(p.b, nearest(128 + (-37.797 * r - 74.203 * g + 112 * b) / 255));
        EXPECT_EQ(p.c, nearest(128 + (112 * r - 93.786 * g - 18.214 * b) / 255));
      }
}

TEST(Color, InkDarkens) {
  EXPECT_EQ(rgb_of_inverted_cmyk(255, 255, 255, 255), (Pixel3{255, 255, 255}));
  EXPECT_EQ(rgb_of_inverted_cmyk(255, 255, 255, 0), (Pixel3{0, 0, 0}));
  EXPECT_EQ(rgb_of_inverted_cmyk(0, 255, 255, 255), (Pixel3{0, 255, 255}));
  for (int c = 0; c < 256; ++c)
    for (int k = 0; k < 256; ++k)
      EXPECT_NEAR(rgb_of_inverted_cmyk(c, 0, 0, k).a, c * k / 255.0, 0.502);
}

}  // namespace
}  // namespace stoker
