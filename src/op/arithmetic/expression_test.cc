// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/expression.h"

#include <gtest/gtest.h>

#include <random>

#include "op/arithmetic/selection.h"
#include "op/rules.h"

namespace stoker {

namespace {

DType type_of(const std::string& text, std::vector<DType> inputs) {
  return compile(Expression::read(text), inputs).dtype;
}

// A text of parts of expressions and selections, in any order.
std::string some_text(std::mt19937& random) {
  static const char* const parts[] = {
      "(",   ")",  "x0",     "x1",  " ",       "+",
      "-",   "**", "<<",     "==",  "1",       "2.5",
      ",",   "-",  "nan",    "inf", "int8(",   "min",
      "abs", "~",  "1e9",    "x99", "where(",  "clamp(",
      "$0",  "::", "...",    "1:2", "newaxis", "9223372036854775807",
      "e",   ".",  "bool(1)"};
  std::string text;
  for (auto n = random() % 12; n > 0; --n) text += parts[random() % std::size(parts)];
  return text;
}

TEST(Expression, TypesFollowFromTheInputs) {
  EXPECT_EQ(type_of("(x0 + x1)", {DType::kUint8, DType::kInt8}), DType::kInt16);
  EXPECT_EQ(type_of("(x0 + x1)", {DType::kUint64, DType::kInt8}), DType::kInt64);
  EXPECT_EQ(type_of("(x0 / 2)", {DType::kInt64}), DType::kFloat32);
  EXPECT_EQ(type_of("(x0 * 2.5)", {DType::kFloat64}), DType::kFloat64);
  EXPECT_EQ(type_of("(x0 + 5000000000)", {DType::kUint8}), DType::kInt64);
  EXPECT_EQ(type_of("(x0 < (-x1))", {DType::kUint8, DType::kUint8}), DType::kBool);
}

TEST(Expression, ForeignTextsAreReadOrRefused) {
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::string text = some_text(random);
    try {
      const Expression e = Expression::read(text);
      std::vector<DType> inputs(e.input_count());
      for (DType& t : inputs) t = static_cast<DType>(random() % static_cast<int>(DType::kNone));
      const Compiled c = compile(e, inputs);
      ++read;
      ASSERT_LE(c.depth, kMostStack) << text;
    } catch (const WrongCall&) {
    }
  }
  EXPECT_GT(read, 1000);
}

TEST(Expression, IsBounded) {
  const auto nested = [](int depth) {
    std::string text = "x0";
    for (int i = 0; i < depth; ++i) text = "(" + text + " + x0)";
    return text;
  };
  EXPECT_NO_THROW(Expression::read(nested(Expression::kMostDepth - 1)));
  EXPECT_THROW(Expression::read(nested(Expression::kMostDepth)), WrongCall);
  EXPECT_THROW(Expression::read(std::string(Expression::kMostText + 1, ' ')), WrongCall);
  std::string wide = "x0";
  for (int i = 0; i < 9; ++i) wide = "(" + wide + " + " + wide + ")";
  EXPECT_THROW(Expression::read(wide), WrongCall);
}

TEST(Expression, IsLinearWhereAllIsFloat32) {
  std::vector<LinearStep> steps;
  EXPECT_TRUE(is_linear(Expression::read("((x0 / 255) - 0.5)"), DType::kUint8, steps));
  EXPECT_EQ(steps.size(), 2u);
  EXPECT_FALSE(is_linear(Expression::read("((x0 + 1) / 255)"), DType::kUint8, steps));
  EXPECT_TRUE(is_linear(Expression::read("((x0 + 1) / 255)"), DType::kFloat32, steps));
  EXPECT_FALSE(is_linear(Expression::read("(x0 / 255)"), DType::kInt32, steps));
  EXPECT_FALSE(is_linear(Expression::read("(x0 * x0)"), DType::kFloat32, steps));
  EXPECT_FALSE(is_linear(Expression::read("(2 / x0)"), DType::kFloat32, steps));
  EXPECT_FALSE(is_linear(Expression::read("x0"), DType::kFloat32, steps));
}

TEST(Selection, ForeignTextsAreReadOrRefused) {
  std::mt19937 random(2);
  int read = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::string text = some_text(random);
    const TensorType in{DType::kUint8, "HWC", {3, 4, 0}};
    try {
      const Selection s = Selection::read(text);
      const Small<int64_t> indices = s.computed_count ? Small<int64_t>{1} : Small<int64_t>{};
      const TensorType t = s.type(in, &indices);
      ASSERT_TRUE(t.shape.is_possible()) << text;
      s.type(in, nullptr);
      ++read;
    } catch (const WrongCall&) {
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace

}  // namespace stoker
