// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/random_window.h"

#include <gtest/gtest.h>

#include <set>

#include "op/rules.h"

namespace stoker {
namespace {

PlaneWindow draw(const RandomWindowArguments& a, int64_t h, int64_t w, int64_t position) {
  return random_window(a, h, w, Chance(42, 7, 0, position));
}

void expect_inside(const PlaneWindow& p, int64_t h, int64_t w) {
  EXPECT_GE(p.y, 0);
  EXPECT_GE(p.x, 0);
  EXPECT_GE(p.height, 1);
  EXPECT_GE(p.width, 1);
  EXPECT_LE(p.y + p.height, h);
  EXPECT_LE(p.x + p.width, w);
}

TEST(RandomWindow, Golden) {
  const PlaneWindow expected[] = {{66, 238, 164, 175}, {51, 54, 261, 335}, {31, 202, 311, 282},
                                  {42, 242, 224, 184}, {8, 104, 225, 275}, {18, 10, 356, 274}};
  for (int64_t i = 0; i < 6; ++i) {
    const PlaneWindow p = draw({}, 375, 500, i);
    EXPECT_EQ(p, expected[i]) << "{" << p.y << ", " << p.x << ", " << p.height << ", " << p.width
                              << "}, ";
  }
}

TEST(RandomWindow, KeepsItsRanges) {
  const RandomWindowArguments a;
  double area = 0;
  std::set<int64_t> places;
  for (int64_t i = 0; i < 2000; ++i) {
    const PlaneWindow p = draw(a, 375, 500, i);
    expect_inside(p, 375, 500);
    const double ratio = static_cast<double>(p.width) / static_cast<double>(p.height);
    EXPECT_GE(ratio, 0.75f);
    EXPECT_LE(ratio, 1.333333f);
    const double share = static_cast<double>(p.width * p.height) / (375 * 500);
    EXPECT_GT(share, 0.079);
    area += share / 2000;
    places.insert(p.x);
  }
  EXPECT_GT(area, 0.40);  // below the range's middle, 0.54, as large areas fit less often
  EXPECT_LT(area, 0.54);
  EXPECT_GT(places.size(), 150u);
}

TEST(RandomWindow, PicturesOfNoLegalRatio) {
  for (int64_t i = 0; i < 50; ++i) {
    PlaneWindow p = draw({}, 10, 1000, i);
    expect_inside(p, 10, 1000);
    EXPECT_EQ(p.height, 10);
    EXPECT_EQ(p.width, 13);
    p = draw({}, 1000, 10, i);
    expect_inside(p, 1000, 10);
    EXPECT_EQ(p.height, 13);
    EXPECT_EQ(p.width, 10);
  }
}

TEST(RandomWindow, FallsBackToTheLargest) {
  const RandomWindowArguments whole{.random_area = {1, 1}};
  EXPECT_EQ(draw(whole, 100, 130, 3), (PlaneWindow{0, 0, 100, 130}));
  // The area is limited here too: 1 % of 100 x 130, at a ratio of 1.3.
  const RandomWindowArguments small{.random_area = {0.01f, 0.01f},
                                    .random_aspect_ratio = {1.2999f, 1.3001f}};
  const PlaneWindow p = draw(small, 100, 130, 3);
  EXPECT_EQ(p.height, 10);
  EXPECT_EQ(p.width, 13);
}

TEST(RandomWindow, TinyPictures) {
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(draw({}, 1, 1, i), (PlaneWindow{0, 0, 1, 1}));
    expect_inside(draw({}, 1, 2, i), 1, 2);
    expect_inside(draw({}, 3, 2, i), 3, 2);
  }
}

TEST(RandomWindow, WrongRangesAreSaid) {
  EXPECT_NO_THROW(check_random_window({}));
  EXPECT_THROW(check_random_window({.random_area = {0.5f, 0.1f}}), WrongCall);
  EXPECT_THROW(check_random_window({.random_area = {0, 0}}), WrongCall);
  EXPECT_THROW(check_random_window({.random_area = {0.5f}}), WrongCall);
  EXPECT_THROW(check_random_window({.random_aspect_ratio = {0, 1}}), WrongCall);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_THROW(check_random_window({.random_aspect_ratio = {1, kInf}}), WrongCall);
  EXPECT_THROW(check_random_window({.random_aspect_ratio = {kInf, kInf}}), WrongCall);
}

TEST(RandomWindow, TakesTheLargestAndTheSmallestRatio) {
  for (const float ratio : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min()}) {
    const RandomWindowArguments a{.random_aspect_ratio = {ratio, ratio}};
    check_random_window(a);
    for (int64_t i = 0; i < 20; ++i) expect_inside(draw(a, 7, 9, i), 7, 9);
  }
}

}  // namespace
}  // namespace stoker
