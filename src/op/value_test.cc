// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op/resize/filter.h"

namespace stoker {
namespace {

template <class T>
T from(const Value& v) {
  T x{};
  from_value(v, x);
  return x;
}

TEST(Value, BecomesMembers) {
  EXPECT_EQ(from<int>(int64_t{7}), 7);
  EXPECT_EQ(from<int>(3.0), 3);
  EXPECT_EQ(from<float>(int64_t{2}), 2.0f);
  EXPECT_TRUE(from<bool>(int64_t{1}));
  EXPECT_EQ(from<DType>(std::string("int16")), DType::kInt16);
  EXPECT_EQ(from<Filter>(std::string("INTERP_CUBIC")), Filter::kCubic);
  EXPECT_EQ(from<Layout>(std::string("HWC")), Layout("HWC"));
  EXPECT_EQ(from<Small<float>>(0.5), (Small<float>{0.5f}));
  EXPECT_EQ(from<Small<int>>(std::vector<double>{1, 2}), (Small<int>{1, 2}));
  EXPECT_EQ(from<std::vector<std::string>>(std::string("a")), std::vector<std::string>{"a"});
  EXPECT_FALSE(from<std::optional<int>>(Value{}));
  EXPECT_EQ(from<std::optional<DType>>(std::string("none")), std::nullopt);
  EXPECT_EQ(from<Small<int64_t>>((int64_t{1} << 60) + 1), (Small<int64_t>{(int64_t{1} << 60) + 1}));
  EXPECT_EQ(*from<std::optional<Small<float>>>(std::vector<int64_t>{}), Small<float>{});
}

TEST(Value, RefusesWhatDoesNotFit) {
  EXPECT_THROW(from<int>(2.5), GraphError);
  EXPECT_THROW(from<int>(int64_t{1} << 40), GraphError);
  EXPECT_THROW(from<bool>(int64_t{2}), GraphError);
  EXPECT_THROW(from<bool>(std::string("yes")), GraphError);
  EXPECT_THROW(from<float>(std::string("1")), GraphError);
  EXPECT_THROW(from<float>(std::vector<double>{1, 2}), GraphError);
  EXPECT_THROW(from<DType>(std::string("uint24")), GraphError);
  EXPECT_THROW(from<DType>(std::string("none")), GraphError);
  EXPECT_THROW(from<Layout>(std::string("ABCDEFG")), GraphError);
  EXPECT_THROW(from<Small<int>>(std::vector<int64_t>{1'000'000'000'000}), GraphError);
  EXPECT_THROW(from<Small<int>>(std::vector<double>{1e300}), GraphError);
  EXPECT_THROW(from<Small<int>>(std::vector<double>{1.5}), GraphError);
  EXPECT_THROW(from<Small<float>>(Value{}), GraphError);
  try {
    from<Filter>(std::string("LINEAR"));
    FAIL();
  } catch (const GraphError& e) {
    EXPECT_STREQ(e.what(),
                 "expects one of INTERP_NN, INTERP_LINEAR, INTERP_CUBIC, INTERP_LANCZOS3, "
                 "INTERP_TRIANGULAR, INTERP_GAUSSIAN, got 'LINEAR'. Did you mean 'INTERP_LINEAR'?");
  }
  try {
    from<Filter>(std::string("interp_cubik"));
    FAIL();
  } catch (const GraphError& e) {
    EXPECT_TRUE(std::string(e.what()).ends_with("'interp_cubik'. Did you mean 'INTERP_CUBIC'?"));
  }
}

TEST(Value, ComesBackUnchanged) {
  EXPECT_EQ(to_value(0.1f), Value(0.1));
  EXPECT_EQ(to_value(DType::kFloat16), Value(std::string("float16")));
  EXPECT_EQ(to_value(Small<float>{0.485f}), Value(std::vector<double>{0.485}));
  EXPECT_EQ(to_value(std::optional<int>{}), Value{});
  EXPECT_EQ(from<float>(to_value(0.1f)), 0.1f);
  EXPECT_EQ(from<Filter>(to_value(Filter::kGaussian)), Filter::kGaussian);
}

TEST(Value, PrintsAsPython) {
  EXPECT_EQ(to_string(Value{}), "None");
  EXPECT_EQ(to_string(Value(true)), "True");
  EXPECT_EQ(to_string(Value(2.0)), "2.0");
  EXPECT_EQ(to_string(Value(std::vector<double>{0.5, 1})), "[0.5, 1.0]");
  EXPECT_EQ(to_string(Value(std::vector<std::string>{"a", "b"})), "['a', 'b']");
}

TEST(Value, ComesFromTensors) {
  int16_t data[] = {4, 5, 6, 7};
  View v = View::dense(data, DType::kInt16, {2, 2});
  Small<float> list;
  from_tensor(v, list);
  EXPECT_EQ(list, (Small<float>{4, 5, 6, 7}));
  std::swap(v.strides[0], v.strides[1]);
  from_tensor(v, list);
  EXPECT_EQ(list, (Small<float>{4, 6, 5, 7}));
  int one = 0;
  EXPECT_THROW(from_tensor(v, one), SampleError);
  from_tensor(View::dense(data, DType::kInt16, {}), one);
  EXPECT_EQ(one, 4);
  Filter f = Filter::kNearest;
  from_tensor(View::dense(data, DType::kInt16, {1}), f);
  EXPECT_EQ(f, Filter::kTriangular);
  EXPECT_THROW(from_tensor(View::dense(data + 2, DType::kInt16, {1}), f), SampleError);
  std::string text;
  EXPECT_THROW(from_tensor(View::dense(data, DType::kInt16, {1}), text), SampleError);
}

TEST(Value, ComputedIntegersAreWholeAndFit) {
  const auto take = [](double d, auto member) {
    from_tensor(View::dense(&d, DType::kFloat64, {1}), member);
    return member;
  };
  EXPECT_EQ(take(-3, 0), -3);
  EXPECT_EQ(take(-0x1p63, int64_t{0}), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(take(7, Small<int>{}), Small<int>{7});
  EXPECT_THROW(take(0.9, 0), SampleError);
  EXPECT_THROW(take(0x1p31, 0), SampleError);
  EXPECT_THROW(take(0x1p63, int64_t{0}), SampleError);
  EXPECT_THROW(take(std::nan(""), 0), SampleError);
  EXPECT_THROW(take(1e12, Small<int>{}), SampleError);
  EXPECT_THROW(take(1.5, Small<int>{}), SampleError);
  EXPECT_THROW(take(0.5, Filter::kLinear), SampleError);
}

TEST(Value, ReadsElementsOfEveryType) {
  const auto read = [](auto x, DType t) { return element(View::dense(&x, t, {1}), 0); };
  EXPECT_EQ(read(uint8_t{200}, DType::kUint8), 200);
  EXPECT_EQ(read(int8_t{-7}, DType::kInt8), -7);
  EXPECT_EQ(read(uint16_t{60000}, DType::kUint16), 60000);
  EXPECT_EQ(read(int64_t{-5}, DType::kInt64), -5);
  EXPECT_EQ(read(uint16_t{0x3e00}, DType::kFloat16), 1.5);
  EXPECT_EQ(read(0.25, DType::kFloat64), 0.25);
  EXPECT_EQ(read(uint8_t{9}, DType::kBool), 1);
  EXPECT_THROW(read(uint8_t{9}, DType::kNone), Error);
}

}  // namespace
}  // namespace stoker
