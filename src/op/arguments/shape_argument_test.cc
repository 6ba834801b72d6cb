// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/shape_argument.h"

#include <gtest/gtest.h>

#include "op/testing.h"
#include "op/type_of.h"

namespace stoker {
namespace {

TEST(ShapeArgument, IsAskedForOrCopied) {
  const test::OneInput in({DType::kUint8, "", {2, 5}});
  std::vector<TensorType> outputs, types{{DType::kUint8, "", {2, 5}}};
  Kept kept;
  const Inference with{types, {}, outputs, Chance(1, 1, 0, 0), kept},
      without{{}, {}, outputs, Chance(1, 1, 0, 0), kept};
  EXPECT_EQ(shape_asked({}, with), (Shape{2, 5}));
  EXPECT_EQ(shape_asked({}, without), Shape{});
  EXPECT_EQ(shape_asked(Small<int64_t>{3}, without), Shape{3});
  EXPECT_THROW(shape_asked(Small<int64_t>{-3}, without), WrongCall);
  EXPECT_THROW(shape_asked(Small<int64_t>{1, 1, 1, 1, 1, 1, 1}, without), WrongCall);
  EXPECT_THROW(shape_asked(Small<int64_t>{2, INT64_MAX}, without), WrongCall);
  EXPECT_EQ(shape_asked({}, in.checker()), (Shape{2, 5}));
  EXPECT_THROW(shape_asked(Small<int64_t>{3}, in.checker()), WrongCall);
}

// The draws of one sample, for a window of the full shape.
std::vector<float> draws(const char* op, const Arguments& arguments, int64_t position,
                         const Window& w, const Shape& full) {
  std::vector<float> data(static_cast<size_t>(w.shape().volume()));
  View out = View::window(data.data(), DType::kFloat32, w, full);
  Arena arena;
  const Kept kept;
  Run r{{}, {&out, 1}, Chance(5, 6, 0, position), arena, kept};
  const OperatorType& type = operator_named(op);
  type.runs->run(*type.make(arguments), r);
  return data;
}

TEST(Draws, DoNotDependOnTheWindow) {
  const Shape full{6, 4};
  for (const char* op : {"random.uniform", "random.coin_flip"}) {
    const auto all = draws(op, {}, 0, Window::all(full), full);
    const auto part = draws(op, {}, 0, {{2, 1}, {5, 3}}, full);
    for (size_t y = 0; y < 3; ++y)
      for (size_t x = 0; x < 2; ++x) EXPECT_EQ(part[y * 2 + x], all[(y + 2) * 4 + x + 1]) << op;
    EXPECT_NE(all, draws(op, {}, 1, Window::all(full), full)) << op;
  }
}

TEST(Draws, AreSpreadAsAsked) {
  const Shape full{40000};
  double mean = 0;
  for (float x : draws("random.uniform", {{"range", std::vector<double>{2, 4}}}, 0,
                       Window::all(full), full)) {
    ASSERT_GE(x, 2);
    ASSERT_LT(x, 4);
    mean += x / 40000.0;
  }
  EXPECT_NEAR(mean, 3, 0.02);
  double ones = 0;
  for (float x : draws("random.coin_flip", {{"probability", 0.3}}, 0, Window::all(full), full)) {
    ASSERT_TRUE(x == 0 || x == 1);
    ones += x;
  }
  EXPECT_NEAR(ones / 40000, 0.3, 0.01);
  int count[3] = {};
  for (float x : draws("random.uniform", {{"values", std::vector<double>{5, 6, 7}}}, 0,
                       Window::all(full), full))
    ++count[static_cast<int>(x) - 5];
  for (int c : count) EXPECT_NEAR(c, 40000 / 3.0, 400);
}

}  // namespace
}  // namespace stoker
