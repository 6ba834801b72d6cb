// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/masks.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace stoker::stores {
namespace {

// The same outline, walked point by point from end to end, as Note [Outlines] says it.
std::vector<int32_t> walked(std::span<const float> xy, int64_t height, int64_t width) {
  std::vector<int64_t> crossings;
  const size_t corners = xy.size() / 2;
  const auto grid = [&](size_t i) {
    const float v = xy[i % xy.size()];
    return static_cast<int64_t>(5 * std::clamp<double>(v, -65536, 65536) + 0.5);
  };
  bool has_last = false;
  int64_t last_x = 0, last_y = 0;
  for (size_t k = 0; k < corners; ++k) {
    int64_t ax = grid(2 * k), ay = grid(2 * k + 1), bx = grid(2 * k + 2), by = grid(2 * k + 3);
    const int64_t across = std::abs(bx - ax), down = std::abs(by - ay);
    const bool is_flat = across >= down, is_flipped = is_flat ? ax > bx : ay > by;
    if (is_flipped) std::swap(ax, bx), std::swap(ay, by);
    const int64_t steps = std::max(across, down);
    const double slope = steps == 0 ? 0
                         : is_flat  ? static_cast<double>(by - ay) / static_cast<double>(across)
                                    : static_cast<double>(bx - ax) / static_cast<double>(down);
    for (int64_t i = 0; i <= steps; ++i) {
      const int64_t t = is_flipped ? steps - i : i;
      const double beside = static_cast<double>(is_flat ? ay : ax) + slope * static_cast<double>(t);
      const auto rounded = static_cast<int64_t>(beside + 0.5);
      const int64_t x = is_flat ? ax + t : rounded, y = is_flat ? rounded : ay + t;
      const int64_t passed = std::min(x, last_x);
      if (has_last && x != last_x && passed >= 2 && passed % 5 == 2 && passed / 5 < width) {
        const double top = (static_cast<double>(std::min(y, last_y)) + 0.5) / 5 - 0.5;
        crossings.push_back(passed / 5 * height + static_cast<int64_t>(std::ceil(std::clamp(
                                                      top, 0.0, static_cast<double>(height)))));
      }
      last_x = x, last_y = y, has_last = true;
    }
  }
  std::vector<int32_t> rows(static_cast<size_t>(height * width));
  for (int64_t i = 0; i < height * width; ++i) {
    const auto n = std::count_if(crossings.begin(), crossings.end(),
                                 [&](int64_t crossing) { return crossing <= i; });
    rows[static_cast<size_t>(i % height * width + i / height)] = n % 2 == 1 ? 7 : 0;
  }
  return rows;
}

std::vector<int32_t> painted(std::span<const float> xy, int64_t height, int64_t width) {
  std::vector<int32_t> rows(static_cast<size_t>(height * width));
  paint_polygon(xy, height, width, 7, rows.data());
  return rows;
}

TEST(Masks, AsWalkedPointByPoint) {
  std::mt19937 draw(1);
  for (int round = 0; round < 3000; ++round) {
    const int64_t height = 1 + draw() % 20, width = 1 + draw() % 20;
    // Corners in the picture and around it, on whole and half pixels or anywhere.
    const float reach = round % 50 == 0 ? 3000 : round % 2 == 0 ? 20 : 50;
    std::vector<float> xy(2 * (1 + draw() % 9));
    for (float& v : xy) {
      v = std::uniform_real_distribution<float>(10 - reach, 10 + reach)(draw);
      if (round % 3 == 0) v = std::round(2 * v) / 2;
    }
    ASSERT_EQ(painted(xy, height, width), walked(xy, height, width)) << round;
  }
}

// Walked point by point, this takes minutes.
TEST(Masks, FarCornersCostNoMoreThanNearOnes) {
  std::vector<float> xy;
  for (int i = 0; i < 50000; ++i)
    for (const float v : {-1e30F, -60000.0F, 1e30F, 1.5F, 2.0F, 50000.0F}) xy.push_back(v);
  const std::vector<float> once(xy.begin(), xy.begin() + 6);
  xy.insert(xy.end(), once.begin(), once.end());
  // What is drawn an odd number of times is as if drawn once.
  EXPECT_EQ(painted(xy, 3, 4), walked(once, 3, 4));
}

// Of three edges, two cross all columns. All their crossings together would take 105 MB.
TEST(Masks, LongOutlinesTakeNoMoreMemoryThanPixels) {
  const auto most_memory = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss >> 10;  // MiB
  };
  constexpr int64_t kWidth = 1 << 16;
  std::vector<float> xy;
  for (int i = 0; i < 101; ++i)
    for (const float v : {0.0F, 0.0F, float{kWidth}, 3.0F, 0.0F, 3.0F}) xy.push_back(v);
  const std::vector<float> once(xy.begin(), xy.begin() + 6);
  const std::vector<int32_t> expected = painted(once, 3, kWidth);
  const int64_t before = most_memory();
  EXPECT_EQ(painted(xy, 3, kWidth), expected);
  EXPECT_LT(most_memory() - before, 32);
}

}  // namespace
}  // namespace stoker::stores
