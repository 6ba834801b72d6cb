// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/histogram.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace stoker {
namespace {

TEST(Histogram, CountsEachPlane) {
  std::mt19937 random(1);
  for (const Layout layout : {Layout("HWC"), Layout("CHW"), Layout("HW")})
    for (int64_t channels = 1; channels < 7; ++channels)
      for (int64_t columns = 1; columns < 12; ++columns) {
        std::vector<uint8_t> bytes(8 * 12 * 20);
        for (uint8_t& b : bytes) b = static_cast<uint8_t>(random() % 5 * 63);
        Shape shape = {4, columns};
        const int c = layout.find('C');
        if (c == 0) shape = {channels, 4, columns};
        if (c == 2) shape.push_back(channels);
        View v = View::dense(bytes.data(), DType::kUint8, shape, layout);
        v.strides[layout.find('H')] += 3;
        if (c == 0) v.strides[0] += 100;
        const std::vector<uint32_t> counts = histograms(bytes.data(), BytePlanes::of(v));
        std::map<std::pair<int64_t, int>, uint32_t> right;
        for (int64_t p = 0; p < (c < 0 ? 1 : channels); ++p)
          for (int64_t y = 0; y < 4; ++y)
            for (int64_t x = 0; x < columns; ++x)
              ++right[{p, bytes[static_cast<size_t>(y * v.strides[layout.find('H')] +
                                                    x * v.strides[layout.find('W')] +
                                                    (c < 0 ? 0 : p * v.strides[c]))]}];
        for (size_t k = 0; k < counts.size(); ++k)
          ASSERT_EQ(counts[k], (right[{static_cast<int64_t>(k / 256), static_cast<int>(k % 256)}]))
              << layout.str() << ' ' << channels << ' ' << columns;
      }
}

TEST(Equalize, RoundsHalvesToEven) {
  EXPECT_EQ(equalized_level(1, 510), 0);
  EXPECT_EQ(equalized_level(3, 510), 2);
  EXPECT_EQ(equalized_level(5, 510), 2);
  EXPECT_EQ(equalized_level(510, 510), 255);
}

}  // namespace
}  // namespace stoker
