// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/point_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "op/rules.h"

namespace stoker {
namespace {

// To where the map leads from a point, both with the outermost axis first.
std::vector<double> led(const Warp& w, const std::vector<double>& p) {
  std::vector<double> to;
  double divisor = w.divisor_offset;
  for (int j = 0; j < w.count; ++j) divisor += w.divisor[j] * p[static_cast<size_t>(j)];
  for (int i = 0; i < w.count; ++i) {
    to.push_back(w.offset[i]);
    for (int j = 0; j < w.count; ++j) to.back() += w.matrix[i][j] * p[static_cast<size_t>(j)];
    to.back() /= divisor;
  }
  return to;
}

TEST(PointMap, RowsAreForXAndThenY) {
  const Warp w = PointMap(2, {1, 2, 3, 4, 5, 6}, true).warp();
  EXPECT_EQ(led(w, {10, 100}), (std::vector<double>{456, 123}));  // 4 x + 5 y + 6, x + 2 y + 3
}

TEST(PointMap, VolumesHaveARowMore) {
  const Warp w = PointMap(3, {1, 0, 0, 7, 0, 0, 2, 8, 0, 3, 0, 9}, true).warp();
  EXPECT_EQ(led(w, {1, 10, 100}), (std::vector<double>{39, 10, 107}));  // 3 y + 9, 2 z + 8, x + 7
}

TEST(PointMap, InvertsWhatLeadsToTheOutput) {
  EXPECT_EQ(led(PointMap(2, {0, 2, 3, -4, 0, 1}, false).warp(), {9, 13}),
            (std::vector<double>{5, -2}));
  const Small<float> some = {0.5F, 2, 3, -1, 1.5F, 0.25F, 0.125F, 4, -2, 0, 1, 5};
  const std::vector<double> p = {1, 2, 3};
  const auto back = led(PointMap(3, some, false).warp(), led(PointMap(3, some, true).warp(), p));
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(back[i], p[i], 1e-12);
}

TEST(PointMap, TheLastRowDivides) {
  const Small<float> some = {1, 2, 3, 4, 5, 6, 0.5F, 0.25F, 2};
  const PointMap map(2, some, true, true), back(2, some, false, true);
  EXPECT_TRUE(map.warp().has_perspective());
  EXPECT_EQ(led(map.warp(), {10, 100}), (std::vector<double>{456 / 54.5, 123 / 54.5}));
  const auto there_and_back = led(back.warp(), led(map.warp(), {10, 100}));
  EXPECT_NEAR(there_and_back[0], 10, 1e-9);
  EXPECT_NEAR(there_and_back[1], 100, 1e-9);
  const Warp affine = PointMap(2, {1, 2, 3, 4, 5, 6, 0, 0, 2}, true, true).warp();
  EXPECT_FALSE(affine.has_perspective());
  EXPECT_EQ(affine.divisor_offset, 1);
  EXPECT_EQ(led(affine, {10, 100}), (std::vector<double>{228, 61.5}));
}

TEST(PointMap, CentresAreHalfAPixelFromCorners) {
  PointMap map(2, {1, 2, 3, 4, 5, 6, 0.5F, 0.25F, 2}, true, true);
  const auto at_corner = led(map.warp(), {10, 100});
  map.begin_at_centre();
  const auto at_centre = led(map.warp(), {10.5, 100.5});
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(at_centre[i], at_corner[i] + 0.5, 1e-12);
}

TEST(PointMap, WhatIsNoMapIsRefused) {
  EXPECT_THROW(PointMap(2, {1, 0, 0, 0, 1, 0}, true, true), WrongCall);
  EXPECT_THROW(PointMap(2, {1, 0, 0, 0, 1, 0, 0, 0, 0}, true, true), WrongCall);
  EXPECT_THROW(PointMap(2, {1, 0, 0, 0, 1}, true), WrongCall);
  EXPECT_THROW(PointMap(3, {1, 0, 0, 0, 1, 0}, true), WrongCall);
  EXPECT_THROW(PointMap(2, {1, 0, NAN, 0, 1, 0}, true), WrongCall);
  EXPECT_THROW(PointMap(2, {1, 2, 0, 2, 4, 0}, false), WrongCall);
  EXPECT_NO_THROW(PointMap(2, {1, 2, 0, 2, 4, 0}, true));
}

}  // namespace
}  // namespace stoker
