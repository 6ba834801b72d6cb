// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "op/rules.h"

namespace stoker {
namespace {

std::vector<int64_t> canvas(double angle, std::vector<int64_t> in, const Small<float>& axis = {}) {
  std::vector<int64_t> out(in.size());
  const Rotation rotation(static_cast<int>(in.size()), angle, axis);
  Rotation::canvas({&rotation, 1}, in.data(), out.data());
  return out;
}

std::vector<int64_t> common(const std::vector<double>& angles, std::vector<int64_t> in) {
  std::vector<int64_t> out(in.size());
  std::vector<Rotation> rotations;
  for (const double angle : angles) rotations.emplace_back(2, angle, Small<float>());
  Rotation::canvas(rotations, in.data(), out.data());
  return out;
}

// The point of the input that the output's pixel shows at its centre.
std::vector<double> source(const Warp& w, std::vector<double> p) {
  std::vector<double> q;
  for (int i = 0; i < w.count; ++i) {
    q.push_back(w.offset[i]);
    for (int j = 0; j < w.count; ++j)
      q.back() += w.matrix[i][j] * (p[static_cast<size_t>(j)] + 0.5);
  }
  return q;
}

TEST(Rotation, CanvasesHoldThePicture) {
  EXPECT_EQ(canvas(0, {4, 6}), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(canvas(90, {4, 6}), (std::vector<int64_t>{6, 4}));
  EXPECT_EQ(canvas(-270, {5, 6}), (std::vector<int64_t>{6, 5}));
  EXPECT_EQ(canvas(45, {10, 10}), (std::vector<int64_t>{16, 16}));  // 14.14, made even
  EXPECT_EQ(canvas(30, {375, 500}), (std::vector<int64_t>{575, 622}));  // 574.8 and 620.5
}

TEST(Rotation, ParityIsThatOfTheDominantExtent) {
  EXPECT_EQ(canvas(10, {11, 20}), (std::vector<int64_t>{15, 22}));  // 14.3, 21.6
  EXPECT_EQ(canvas(80, {11, 20}), (std::vector<int64_t>{22, 15}));
}

TEST(Rotation, SeveralHaveTheLargestCanvas) {
  EXPECT_EQ(common({0}, {4, 6}), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(common({0, 90}, {4, 6}), (std::vector<int64_t>{6, 6}));
  // 14.3 x 21.6 and 21.6 x 14.3: odd as the extent 11 or even as 20.
  EXPECT_EQ(common({10, 80}, {11, 20}), (std::vector<int64_t>{22, 22}));
  EXPECT_EQ(common({10, 10, 80}, {11, 20}), (std::vector<int64_t>{23, 22}));
  EXPECT_EQ(common({80, 10, 80}, {11, 20}), (std::vector<int64_t>{22, 23}));
}

TEST(Rotation, PicturesTurnCounterClockwise) {
  const int64_t in[] = {3, 5}, out[] = {5, 3};
  const Warp w = Rotation(2, 90, {}).warp(in, out);
  // What is shown at the top comes from the right.
  EXPECT_EQ(source(w, {0, 1}), (std::vector<double>{1.5, 4.5}));
  EXPECT_EQ(source(w, {4, 0}), (std::vector<double>{0.5, 0.5}));
}

TEST(Rotation, VolumesTurnAroundTheirAxis) {
  const int64_t in[] = {3, 5, 7}, out[] = {3, 7, 5};
  // Around z, x turns to y, so what is shown at the bottom comes from the right.
  const Warp w = Rotation(3, 90, {0, 0, 2}).warp(in, out);
  EXPECT_EQ(source(w, {0, 6, 2}), (std::vector<double>{0.5, 2.5, 6.5}));
  EXPECT_EQ(canvas(90, {3, 5, 7}, {0, 0, 1}), (std::vector<int64_t>{3, 7, 5}));
  EXPECT_EQ(canvas(90, {3, 5, 7}, {1, 0, 0}), (std::vector<int64_t>{5, 3, 7}));
  EXPECT_EQ(canvas(120, {3, 5, 7}, {1, 1, 1}), (std::vector<int64_t>{5, 7, 3}));
}

TEST(Rotation, WhatIsNoRotationIsRefused) {
  EXPECT_THROW(Rotation(2, INFINITY, {}), WrongCall);
  EXPECT_THROW(Rotation(2, 1, {0, 0, 1}), WrongCall);
  EXPECT_THROW(Rotation(3, 1, {}), WrongCall);
  EXPECT_THROW(Rotation(3, 1, {0, 0, 0}), WrongCall);
}

}  // namespace
}  // namespace stoker
