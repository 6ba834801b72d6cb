// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op/resize/filter.h"

namespace stoker {
namespace {

ResizeRequest plane(double h, double w, double size_h, double size_w,
                    ResizeMode mode = ResizeMode::kDefault) {
  ResizeRequest r;
  r.mode = mode;
  r.hi[0] = h, r.hi[1] = w;
  r.size[0] = size_h, r.size[1] = size_w;
  return r;
}

void expect_out(const ResizeRequest& r, int64_t h, int64_t w) {
  const ResizeResult result = resize_extents(r);
  EXPECT_EQ(result.out[0], h);
  EXPECT_EQ(result.out[1], w);
}

TEST(ResizeExtents, Default) {
  expect_out(plane(100, 200, 0, 0), 100, 200);
  expect_out(plane(100, 200, 50, 60), 50, 60);
  expect_out(plane(100, 200, 50, 0), 50, 100);
  expect_out(plane(100, 200, 0, 3), 2, 3);        // rounded from 1.5
  expect_out(plane(3, 1000, 0, 1), 1, 1);         // at least 1
  expect_out(plane(100, 200, 0.4, 2.5), 1, 3);
}

TEST(ResizeExtents, SizesThatNoIntegerHoldsStayHuge) {
  for (double size : {1e30, HUGE_VAL})
    EXPECT_GE(resize_extents(plane(100, 200, 50, size)).out[1], int64_t{1} << 62);
}

TEST(ResizeExtents, MissingDepthTakesTheGeometricMean) {
  ResizeRequest r = plane(10, 10, 20, 0);
  r.rank = 3;
  r.hi[2] = 10;
  r.size[2] = 80;
  EXPECT_EQ(resize_extents(r).out[1], 40);
}

TEST(ResizeExtents, Stretch) {
  expect_out(plane(100, 200, 50, 0, ResizeMode::kStretch), 50, 200);
  ResizeRequest r = plane(100, 200, 50, 0, ResizeMode::kStretch);
  r.max_size[0] = 40, r.max_size[1] = 120;
  expect_out(r, 40, 120);
}

TEST(ResizeExtents, OneScaleForAll) {
  expect_out(plane(375, 500, 256, 256, ResizeMode::kNotSmaller), 256, 341);
  expect_out(plane(375, 500, 256, 256, ResizeMode::kNotLarger), 192, 256);
  ResizeRequest r = plane(100, 1000, 256, 256, ResizeMode::kNotSmaller);
  r.max_size[0] = r.max_size[1] = 500;
  expect_out(r, 50, 500);
  r = plane(100, 1000, 0, 0, ResizeMode::kNotLarger);
  r.max_size[0] = r.max_size[1] = 500;
  expect_out(r, 50, 500);
}

TEST(ResizeExtents, NegativeFlips) {
  ResizeResult r = resize_extents(plane(100, 200, -50, 100));
  EXPECT_EQ(r.out[0], 50);
  EXPECT_EQ(r.lo[0], 100);
  EXPECT_EQ(r.hi[0], 0);
  EXPECT_EQ(r.lo[1], 0);
  ResizeRequest turned = plane(0, 200, -50, 100);
  turned.lo[0] = 100;  // the region is mirrored too
  r = resize_extents(turned);
  EXPECT_EQ(r.lo[0], 0);
  EXPECT_EQ(r.hi[0], 100);
}

TEST(ResizeExtents, SubpixelScaleKeepsTheScale) {
  ResizeRequest r = plane(100, 100, 33.4, 33.6);
  ResizeResult s = resize_extents(r);
  EXPECT_EQ(s.out[0], 33);
  EXPECT_EQ(s.out[1], 34);
  EXPECT_NEAR((s.hi[0] - s.lo[0]) / 33, 100 / 33.4, 1e-12);
  EXPECT_NEAR((s.hi[0] + s.lo[0]) / 2, 50, 1e-12);
  r.subpixel_scale = false;
  s = resize_extents(r);
  EXPECT_EQ(s.lo[0], 0);
  EXPECT_EQ(s.hi[0], 100);
  s = resize_extents(plane(100, 100, 0.01, 5));  // the stretch is at most tenfold
  EXPECT_EQ(s.out[0], 1);
  EXPECT_NEAR(s.hi[0] - s.lo[0], 1000, 1e-9);
}

TEST(ResizeExtents, ThinRegionsGrow) {
  ResizeRequest r = plane(5, 10, 4, 4);
  r.lo[0] = 5;
  const ResizeResult s = resize_extents(r);
  EXPECT_NEAR(s.lo[0], 4.9995, 1e-12);
  EXPECT_NEAR(s.hi[0], 5.0005, 1e-12);
}

TEST(ResampleAxis, ChoosesTheFilter) {
  FilterArguments a;
  const auto axis = [&](double lo, double hi) { return resample_axis(a, 1, 10, lo, hi); };
  EXPECT_EQ(axis(0, 20).filter, Filter::kTriangular);
  EXPECT_EQ(axis(0, 20).radius, 2);
  EXPECT_EQ(axis(20, 0).radius, 2);
  EXPECT_EQ(axis(0, 5).filter, Filter::kLinear);
  EXPECT_EQ(axis(0, 5).radius, 1);
  a.antialias = false;
  EXPECT_EQ(axis(0, 20).filter, Filter::kLinear);
  a = {.interp_type = Filter::kNearest, .min_filter = Filter::kCubic};
  EXPECT_EQ(axis(0, 20).filter, Filter::kCubic);
  EXPECT_EQ(axis(0, 20).radius, 4);
  EXPECT_EQ(axis(0, 5).filter, Filter::kNearest);
  a = {.interp_type = Filter::kLanczos3};
  EXPECT_EQ(axis(0, 25).radius, 7.5);
  EXPECT_EQ(axis(0, 5).radius, 3);
  a = {.interp_type = Filter::kTriangular};
  EXPECT_EQ(axis(0, 5).filter, Filter::kLinear);
  a = {.interp_type = Filter::kGaussian};
  EXPECT_EQ(axis(0, 30).radius, 3);
  EXPECT_FALSE(axis(0, 30).clamped);
  a.border = ResizeBorder::kClamp;
  EXPECT_TRUE(axis(0, 30).clamped);
}

}  // namespace
}  // namespace stoker
