// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/spatial_axes.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "op/rules.h"

namespace stoker {
namespace {

TensorType of(const Layout& layout) {
  return {DType::kUint8, layout, Shape::filled(layout.rank(), 2)};
}
std::string refusal(const TensorType& type) {
  return message<WrongCall>([&] { spatial_axes(type); });
}

TEST(SpatialAxes, AreAllButChannelsAndFrames) {
  using Axes = std::vector<int>;
  EXPECT_EQ(spatial_axes(of("HWC")), (Axes{0, 1}));
  EXPECT_EQ(spatial_axes(of("CWH")), (Axes{1, 2}));
  EXPECT_EQ(spatial_axes(of("XYcC")), (Axes{0, 1, 2}));
  EXPECT_EQ(spatial_axes(of("x")), Axes{0});
  EXPECT_EQ(spatial_axes(of("CFDHW")), (Axes{2, 3, 4}));
  for (int rank = 1; rank <= kMostSpatial; ++rank)
    EXPECT_EQ(spatial_axes({DType::kUint8, "", Shape::filled(rank, -1)}).size(), rank);
}

TEST(SpatialAxes, AreOneToThreeNextToEachOther) {
  EXPECT_EQ(refusal({DType::kUint8, "", {1, 2, 3, 4}}),
            "the input has 4 axes and no layout, expected 1 to 3, which are all spatial, or a "
            "layout that names channels (C) and frames (F)");
  EXPECT_EQ(refusal(of("C")), "the input has 0 spatial axes, expected 1 to 3");
  EXPECT_EQ(refusal(of("WXYZC")), "the input has 4 spatial axes (WXYZ), expected 1 to 3");
  EXPECT_EQ(refusal(of("HCW")),
            "the input has the axes HCW, expected the spatial ones, HW, next to each other");
  EXPECT_EQ(refusal(of("FHW")),
            "the input has the axes F before the spatial ones, expected none, C or CF");
  EXPECT_EQ(refusal(of("HWF")),
            "the input has the axes F behind the spatial ones, expected none or C");
}

}  // namespace
}  // namespace stoker
