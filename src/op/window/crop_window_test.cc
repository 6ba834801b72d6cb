// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/crop_window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op/rules.h"
#include "op/testing.h"
#include "op/window/out_of_bounds.h"

namespace stoker {
namespace {

TensorType image(int64_t h, int64_t w, Layout layout = "HWC") {
  TensorType t{DType::kUint8, layout, Shape::filled(layout.rank(), 3)};
  t.shape[layout.find('H')] = h;
  t.shape[layout.find('W')] = w;
  return t;
}

CropArguments crop(std::initializer_list<float> size, float x = 0.5f, float y = 0.5f) {
  CropArguments a;
  a.crop = Small<float>(size);
  a.crop_pos_x = x;
  a.crop_pos_y = y;
  return a;
}

Window window(Shape begin, Shape end) { return {begin, end}; }

Window window_of(const CropArguments& a, const TensorType& in) {
  return crop_window(a, OutOfBounds::kPad, in);
}

TEST(CropWindow, HalvesGoAwayFromZero) {
  EXPECT_EQ(window_of(crop({3, 4}), image(8, 9)), window({3, 3, 0}, {6, 7, 3}));    // 2.5, 2.5
  EXPECT_EQ(window_of(crop({8, 9}), image(3, 4)), window({-3, -3, 0}, {5, 6, 3}));  // -2.5, -2.5
  EXPECT_EQ(window_of(crop({2, 2}, 1, 0), image(8, 9)), window({0, 7, 0}, {2, 9, 3}));
}

TEST(CropWindow, TruncatesWhenAsked) {
  CropArguments a = crop({3, 4});
  a.rounding = Rounding::kTruncate;
  EXPECT_EQ(window_of(a, image(8, 9)), window({2, 2, 0}, {5, 6, 3}));
}

TEST(CropWindow, SizesAreCutToWholeNumbersAndZeroIsWhole) {
  EXPECT_EQ(window_of(crop({2.9f, 0}, 0, 0), image(8, 9)), window({0, 0, 0}, {2, 9, 3}));
  EXPECT_THROW(window_of(crop({0.5f, 2}), image(8, 9)), WrongCall);  // a share of the picture?
  EXPECT_EQ(window_of(CropArguments{}, image(8, 9)), Window::all({8, 9, 3}));
}

TEST(CropWindow, MorePixelsThanAnIntegerHoldsAreRefused) {
  EXPECT_THROW(window_of(crop({1e30f, 2}), image(8, 9)), WrongCall);
  EXPECT_THROW(window_of(crop({2, HUGE_VALF}), image(8, 9)), WrongCall);
}

TEST(CropWindow, EveryLayout) {
  CropArguments a = crop({2, 2}, 0, 1);
  EXPECT_EQ(window_of(a, image(8, 9, "CHW")), window({0, 6, 0}, {3, 8, 2}));
  EXPECT_EQ(window_of(a, image(8, 9, "CFHW")), window({0, 0, 6, 0}, {3, 3, 8, 2}));
  a = crop({1, 2, 2}, 0, 1);
  a.crop_pos_z = 1;
  EXPECT_EQ(window_of(a, image(8, 9, "DHWC")), window({2, 6, 0, 0}, {3, 8, 2, 3}));
  EXPECT_EQ(window_of(a, image(8, 9, "FHWC")), window({2, 6, 0, 0}, {3, 8, 2, 3}));
  EXPECT_EQ(window_of(a, image(8, 9, "FDHWC")), window({0, 2, 6, 0, 0}, {3, 3, 8, 2, 3}));
  EXPECT_THROW(window_of(a, image(8, 9)), WrongCall);
}

TEST(CropWindow, IsTrimmedBeforeItIsPlaced) {
  CropArguments a = crop({10, 4}, 1, 1);
  EXPECT_EQ(crop_window(a, OutOfBounds::kTrim, image(8, 9)), window({0, 5, 0}, {8, 9, 3}));
  EXPECT_THROW(crop_window(a, OutOfBounds::kError, image(8, 9)), WrongCall);
}

TEST(CropWindow, WrongCallsAreSaid) {
  const test::OneInput in(image(8, 9));
  const auto check = [](const CropArguments& a, const test::OneInput& given) {
    checked_crop(a, OutOfBounds::kError, given.checker(), image(8, 9));
  };
  EXPECT_NO_THROW(check(crop({2, 2}), in));
  EXPECT_NO_THROW(check({.crop_h = 1, .crop_w = 1}, in));
  EXPECT_THROW(check(crop({2}), in), WrongCall);
  EXPECT_THROW(check(crop({1, 2, 2}), in), WrongCall);
  EXPECT_THROW(check({.crop_h = 1}, in), WrongCall);
  EXPECT_THROW(check(crop({0.5f, 0.5f}), in), WrongCall);
  EXPECT_THROW(check({.crop_h = 0.5f, .crop_w = 9}, in), WrongCall);
  EXPECT_THROW(check({.crop_d = 1}, in), WrongCall);
  EXPECT_NO_THROW(check({.crop_d = 1, .crop_h = 1, .crop_w = 1}, in));  // without effect
  EXPECT_THROW(check({.crop = Small<float>{1, 1}, .crop_h = 1, .crop_w = 1}, in), WrongCall);
  const test::OneInput height(image(8, 9), {"crop_h"});
  EXPECT_THROW(check({}, height), WrongCall);
  EXPECT_NO_THROW(check({.crop_w = 2}, height));
  const test::OneInput depth(image(8, 9), {"crop_d"});
  EXPECT_NO_THROW(check({.crop_h = 2, .crop_w = 2}, depth));
}

TEST(CropWindow, ShapesAreKnownWhereTheyCanBe) {
  const auto shape = [](const CropArguments& a, const char* computed, const TensorType& in,
                        OutOfBounds policy = OutOfBounds::kPad) {
    return checked_crop(a, policy, test::OneInput(in, {computed}).checker(), in);
  };
  EXPECT_EQ(shape(crop({2, 0}), "", image(-1, -1)), (Shape{2, -1, 3}));
  EXPECT_EQ(shape({.crop_w = 4}, "crop_h", image(8, 9)), (Shape{-1, 4, 3}));
  EXPECT_EQ(shape({}, "crop", image(8, 9)), (Shape{-1, -1, 3}));
  EXPECT_EQ(shape(crop({10, 4}), "", image(8, -1), OutOfBounds::kTrim), (Shape{8, -1, 3}));
}

TEST(OutOfBounds, Policies) {
  const TensorType in = image(4, 5);
  const Window w{{-1, 3, 0}, {2, 7, 3}};
  EXPECT_EQ(settle(w, in, OutOfBounds::kPad), w);
  EXPECT_EQ(settle(w, in, OutOfBounds::kTrim), window({0, 3, 0}, {2, 5, 3}));
  EXPECT_EQ(settle({{6, 0, 0}, {8, 1, 3}}, in, OutOfBounds::kTrim).shape(), (Shape{0, 1, 3}));
  EXPECT_TRUE(reaches_outside(w, in.shape));
  EXPECT_FALSE(reaches_outside(Window::all(in.shape), in.shape));
  const auto refusal = [&](std::optional<OutOfBounds> policy) -> std::string {
    try {
      settle(w, in, policy);
      return "";
    } catch (const WrongCall& e) {
      return e.what();
    }
  };
  const std::string problem = "the window [-1, 2) of axis 0 (H) reaches outside its extent of 4";
  EXPECT_EQ(refusal(OutOfBounds::kError),
            problem +
                "; out_of_bounds_policy='pad' fills what is outside, 'trim_to_shape' cuts it "
                "off");
  EXPECT_EQ(refusal(std::nullopt), problem);  // of an operator that has no such argument
}

TEST(OutOfBounds, FillsByChannel) {
  const TensorType in = image(4, 5);
  const Window w{{-1, 3, 0}, {2, 7, 3}};
  EXPECT_EQ(cut(w, in, {1, 2, 3}).fill, (Small<float>{1, 2, 3}));
  EXPECT_EQ(cut(w, in, {9}).axis[1].start, 3);
  EXPECT_THROW(cut(w, in, {1, 2}), WrongCall);
  EXPECT_THROW(cut(w, in, {}), WrongCall);
}

}  // namespace
}  // namespace stoker
