// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/block.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const TensorType kImage{DType::kUint8, "HWC", {100, 200, 3}};

Gather crop(AxisMap rows, AxisMap columns) {
  Gather g = Gather::identity(kImage.shape);
  g.axis[0] = rows;
  g.axis[1] = columns;
  return g;
}
Resample resize(int64_t height, int64_t width) {
  return {2,
          {{0, height, 0, 100, Filter::kTriangular, 100. / height},
           {1, width, 0, 200, Filter::kTriangular, 200. / width}}};
}
Store to_chw() {
  Store s;
  s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
  s.layout = "CHW";
  return s;
}

TEST(After, EachKindShapesItsOutput) {
  EXPECT_EQ(after(Block{crop({10, 1, 50}, {0, 2, 100}), DType::kUint8}, kImage),
            (TensorType{DType::kUint8, "HWC", {50, 100, 3}}));
  EXPECT_EQ(after(Block{resize(20, 30), DType::kFloat32}, kImage),
            (TensorType{DType::kFloat32, "HWC", {20, 30, 3}}));
  EXPECT_EQ(after(Block{Pointwise{}, DType::kInt16}, kImage),
            (TensorType{DType::kInt16, "HWC", {100, 200, 3}}));
  EXPECT_EQ(after(Block{Convert{}, DType::kFloat64}, kImage),
            (TensorType{DType::kFloat64, "HWC", {100, 200, 3}}));
  EXPECT_EQ(after(Block{to_chw(), DType::kFloat16}, kImage),
            (TensorType{DType::kFloat16, "CHW", {3, 100, 200}}));
}

TEST(After, StorePadsAnAxisOfItsOutputAndKnowsItsLetters) {
  Store s = to_chw();
  s.layout = {};
  s.pad_axis = 0;
  s.pad_to = 4;
  EXPECT_EQ(after(Block{s, DType::kUint8}, kImage),
            (TensorType{DType::kUint8, "CHW", {4, 100, 200}}));
  s.pad_to = 2;  // padding never shrinks an axis
  EXPECT_EQ(after(Block{s, DType::kUint8}, kImage).shape, (Shape{3, 100, 200}));
}

TEST(Tables, ListsHoldEveryByteAndTheFallback) {
  const float values[] = {1, 2.5f, 300, -7};
  const auto t = table_lists(values, 2, 9, DType::kUint8);
  EXPECT_EQ(t->entries, 256);
  ASSERT_EQ(t->bytes.size(), 2 * 257u);
  const int want[] = {1, 3, 9, 9};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(std::to_integer<int>(t->bytes[i]), want[i]);
  EXPECT_EQ(std::to_integer<int>(t->bytes[256]), 9);
  EXPECT_EQ(std::to_integer<int>(t->bytes[257]), 255);
  EXPECT_EQ(std::to_integer<int>(t->bytes[258]), 0);
  const Block b{Table{t}, DType::kUint8};
  EXPECT_EQ(after(b, kImage), kImage);
  const Window w{{1, 2, 0}, {5, 6, 3}};
  EXPECT_EQ(demand({&b, 1}, kImage, w), w);
}

TEST(Demand, NoBlocksNeedWhatIsWanted) {
  const Window w{{1, 2, 0}, {5, 6, 3}};
  EXPECT_EQ(demand({}, kImage, w), w);
}

TEST(Demand, GathersMapTheWindowAndMirrorIt) {
  const Block b{crop({10, 1, 50}, {199, -1, 200}), DType::kUint8};
  EXPECT_EQ(demand({&b, 1}, kImage, {{0, 0, 0}, {50, 10, 3}}),
            (Window{{10, 190, 0}, {60, 200, 3}}));
  EXPECT_EQ(demand({&b, 1}, kImage, {{5, 20, 1}, {6, 21, 2}}),
            (Window{{15, 179, 1}, {16, 180, 2}}));
}

TEST(Demand, MixedChannelsNeedAllOfAPixel) {
  const Block b{Channels{3, 4, {}, {}}, DType::kUint8};
  EXPECT_EQ(after(b, kImage), (TensorType{DType::kUint8, "HWC", {100, 200, 4}}));
  EXPECT_EQ(demand({&b, 1}, kImage, {{1, 2, 3}, {5, 6, 4}}), (Window{{1, 2, 0}, {5, 6, 3}}));
  EXPECT_EQ(demand({&b, 1}, kImage, {{1, 2, 2}, {5, 6, 2}}), (Window{{1, 2, 0}, {5, 6, 0}}));
}

TEST(Demand, StaysInsideAnInputThatIsNotEmpty) {
  const Block b{crop({-20, 1, 140}, {500, 1, 10}), DType::kUint8};
  EXPECT_EQ(demand({&b, 1}, kImage, {{0, 0, 0}, {140, 10, 3}}),
            (Window{{0, 199, 0}, {100, 200, 3}}));
  EXPECT_EQ(demand({&b, 1}, kImage, {{0, 0, 0}, {5, 10, 3}}), (Window{{0, 199, 0}, {1, 200, 3}}));
}

TEST(Demand, OfAnEmptyInputIsEmpty) {
  Gather pad = Gather::identity({5, 9, 2});
  pad.axis[0].start = pad.axis[1].start = -2;
  const TensorType in{DType::kUint8, "HWC", {0, 6, 2}};
  const Block gather{pad, DType::kUint8}, store{to_chw(), DType::kUint8};
  EXPECT_EQ(demand({&gather, 1}, in, Window::all({5, 9, 2})), Window::all({0, 6, 2}));
  EXPECT_EQ(demand({&store, 1}, in, Window::all({2, 0, 6})), Window::all({0, 6, 2}));
}

TEST(Demand, ResampleTakesAllTapsOfTheWindow) {
  const Block b{resize(50, 200), DType::kUint8};  // rows are halved with radius 2, columns are kept
  EXPECT_EQ(demand({&b, 1}, kImage, {{10, 0, 0}, {11, 1, 3}}), (Window{{19, 0, 0}, {23, 2, 3}}));
  EXPECT_EQ(demand({&b, 1}, kImage, Window::all({50, 200, 3})), Window::all(kImage.shape));
}

TEST(Demand, WarpsTakeWhatTheCornersShow) {
  Warp w{2, {0, 1}, {50, 60}, {{0, 1}, {-1, 0}}, {10, 90}};  // a quarter of a turn
  const Block linear{w, DType::kFloat32};
  EXPECT_EQ(after(linear, kImage), (TensorType{DType::kFloat32, "HWC", {50, 60, 3}}));
  EXPECT_EQ(demand({&linear, 1}, kImage, {{5, 20, 1}, {8, 40, 2}}),
            (Window{{30, 82, 1}, {51, 86, 2}}));
  w.filter = Filter::kNearest;
  const Block nearest{w, DType::kFloat32};
  EXPECT_EQ(demand({&nearest, 1}, kImage, {{5, 20, 1}, {8, 40, 2}}),
            (Window{{30, 82, 1}, {50, 85, 2}}));
  w.offset[0] = -1000, w.offset[1] = 1000;  // outside
  const Block outside{w, DType::kFloat32};
  EXPECT_EQ(demand({&outside, 1}, kImage, Window::all({50, 60, 3})),
            (Window{{0, 199, 0}, {1, 200, 3}}));
  w.border = Border::kReflect101;  // what is mirrored may lie anywhere
  const Block mirrored{w, DType::kFloat32};
  EXPECT_EQ(demand({&mirrored, 1}, kImage, {{5, 20, 1}, {8, 40, 2}}),
            (Window{{0, 0, 1}, {100, 200, 2}}));
}

TEST(Demand, CubicWarpsTakeTwoValuesOnEachSide) {
  Warp w{2, {0, 1}, {50, 60}, {{1, 0}, {0, 1}}, {20.25, 30}};
  w.filter = Filter::kCubic;
  const Block b{w, DType::kUint8};
  EXPECT_EQ(demand({&b, 1}, kImage, {{5, 20, 1}, {8, 40, 2}}), (Window{{24, 49, 1}, {30, 72, 2}}));
  w.border = Border::kWrap, w.offset[0] = -6;
  const Block wrapped{w, DType::kUint8};
  EXPECT_EQ(demand({&wrapped, 1}, kImage, {{5, 20, 1}, {8, 40, 2}}),
            (Window{{0, 49, 1}, {100, 72, 2}}));
}

TEST(Demand, PerspectivesTakeAllThatMayShow) {
  Warp w{2, {0, 1}, {50, 60}, {{1, 0}, {0, 1}}, {20, 30}};
  w.divisor[1] = 0.5, w.divisor_offset = 0.75;
  w.filter = Filter::kNearest;
  const auto needed = [&](const Window& wanted) {
    const Block b{w, DType::kFloat32};
    return demand({&b, 1}, kImage, wanted);
  };
  // The columns from 2.5 to 3.5 divide by 2 and 2.5.
  EXPECT_EQ(needed({{10, 2, 1}, {13, 4, 3}}), (Window{{11, 12, 1}, {18, 18, 3}}));
  w.divisor_offset = -1.5;  // the horizon goes between these columns
  EXPECT_EQ(needed({{10, 2, 1}, {13, 4, 3}}), (Window{{0, 0, 1}, {100, 200, 3}}));
  w.divisor_offset = -1.25 + 0x1p-45;  // it is so near that roundings may move places far
  EXPECT_EQ(needed({{10, 2, 1}, {13, 4, 3}}), (Window{{0, 0, 1}, {100, 200, 3}}));
  w.divisor_offset = 0.75;
  w.offset[0] = 1e6;  // outside
  EXPECT_EQ(needed({{10, 2, 1}, {13, 4, 3}}), (Window{{99, 12, 1}, {100, 18, 3}}));
}

TEST(Demand, GoesThroughStoresAndPadding) {
  Store s = to_chw();
  s.pad_axis = 0;
  s.pad_to = 4;
  const Block blocks[] = {{resize(50, 100), DType::kUint8}, {s, DType::kFloat32}};
  const Window w = demand(blocks, kImage, {{1, 0, 0}, {4, 1, 1}});
  EXPECT_EQ(w, (Window{{0, 0, 1}, {3, 3, 3}}));
  EXPECT_EQ(demand(blocks, kImage, {{3, 0, 0}, {4, 1, 1}}), (Window{{0, 0, 2}, {3, 3, 3}}));
}

}  // namespace
}  // namespace stoker
