// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/orientation.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace stoker {
namespace {

constexpr int64_t kHeight = 3, kWidth = 5;  // stored

// Where EXIF displays the stored pixel (y, x), written down from the standard case by case.
std::array<int64_t, 2> displayed(int orientation, int64_t y, int64_t x) {
  const int64_t below = kHeight - 1 - y, right = kWidth - 1 - x;
  switch (orientation) {
    case 1: return {y, x};          // row 0 is the top, column 0 the left
    case 2: return {y, right};      // top, right
    case 3: return {below, right};  // bottom, right
    case 4: return {below, x};      // bottom, left
    case 5: return {x, y};          // left, top
    case 6: return {x, below};      // right, top
    case 7: return {right, below};  // right, bottom
    default: return {right, y};     // left, bottom
  }
}

TEST(Orientation, EveryWindowReceivesItsPixels) {
  for (int o = 1; o <= 8; ++o) {
    const int64_t h = swaps_axes(o) ? kWidth : kHeight, w = swaps_axes(o) ? kHeight : kWidth;
    std::vector<int64_t> expected(static_cast<size_t>(h * w));
    for (int64_t y = 0; y < kHeight; ++y)
      for (int64_t x = 0; x < kWidth; ++x) {
        const auto [dy, dx] = displayed(o, y, x);
        expected[static_cast<size_t>(dy * w + dx)] = y * kWidth + x;
      }
    for (int64_t y0 = 0; y0 < h; ++y0)
      for (int64_t y1 = y0 + 1; y1 <= h; ++y1)
        for (int64_t x0 = 0; x0 < w; ++x0)
          for (int64_t x1 = x0 + 1; x1 <= w; ++x1) {
            std::vector<int64_t> got(static_cast<size_t>((y1 - y0) * (x1 - x0)), -1);
            const View out =
                View::window(got.data(), DType::kInt64, {{y0, x0, 0}, {y1, x1, 1}}, {h, w, 1});
            const View s = as_stored(out, o);
            EXPECT_EQ(s.full, (Shape{kHeight, kWidth, 1}));
            EXPECT_EQ(stored_rows(out.covers(), out.full, o), s.origin[0] + s.shape[0]);
            for (int64_t y = 0; y < s.shape[0]; ++y)
              for (int64_t x = 0; x < s.shape[1]; ++x)
                *reinterpret_cast<int64_t*>(s.as<char>() + y * s.strides[0] + x * s.strides[1]) =
                    (s.origin[0] + y) * kWidth + s.origin[1] + x;
            for (int64_t y = y0; y < y1; ++y)
              for (int64_t x = x0; x < x1; ++x)
                ASSERT_EQ(got[static_cast<size_t>((y - y0) * (x1 - x0) + x - x0)],
                          expected[static_cast<size_t>(y * w + x)])
                    << "orientation " << o;
          }
  }
}

TEST(Orientation, AnEmptyWindowHoldsNoStoredRows) {
  for (int o = 1; o <= 8; ++o) EXPECT_EQ(stored_rows({{1, 2, 0}, {3, 2, 1}}, {5, 5, 1}, o), 0);
}

}  // namespace
}  // namespace stoker
