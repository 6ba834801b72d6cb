// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/prefix_sum.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/convert.h"
#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

class PrefixSums : public AtCpuLevel {};

// The same sums, each from the one before along every axis, outermost first.
template <class V>
std::vector<V> plain(std::vector<V> v, const Shape& s, const bool* summed) {
  const Shape step = View::dense_strides(s, 1);
  for (int a = 0; a < s.rank; ++a)
    for (int64_t k = 0; k < s.volume() && summed[a]; ++k)
      if (k / step[a] % s[a] > 0) v[static_cast<size_t>(k)] += v[static_cast<size_t>(k - step[a])];
  return v;
}

template <class T>
void compare(DType dtype, std::mt19937& random, const Shape& shape, const bool* summed) {
  using V = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  const auto n = static_cast<size_t>(shape.volume());
  std::vector<T> values(2 * n);  // every other one is used
  std::vector<V> want(n), got(n);
  for (size_t k = 0; k < n; ++k) {
    if constexpr (std::is_floating_point_v<T>)
      values[2 * k] = std::uniform_real_distribution<T>(-1e3F, 1e3F)(random);
    else values[2 * k] = static_cast<T>(random() * (sizeof(T) > 4 ? 0x9e3779b97f4a7c15u : 1));
    want[k] = static_cast<V>(values[2 * k]);
  }
  View in = View::dense(values.data(), dtype, shape);
  for (int a = 0; a < shape.rank; ++a) in.strides[a] *= 2;
  prefix_sums(in, summed, View::dense(got.data(), prefix_sum_type(in.dtype), shape));
  EXPECT_EQ(got, plain(want, shape, summed)) << name_of(in.dtype) << " " << shape.str();
}

TEST_P(PrefixSums, AreThoseOfAPlainLoop) {
  std::mt19937 random(1);
  const Shape shapes[] = {{7}, {1, 1}, {19, 33}, {12, 17, 3}, {3, 5, 64, 2}, {2, 0, 3}};
  for (const Shape& s : shapes)
    for (unsigned axes = 0; axes < 1u << s.rank; ++axes) {
      bool summed[kMaxRank];
      for (int a = 0; a < s.rank; ++a) summed[a] = axes >> a & 1;
      compare<uint8_t>(DType::kUint8, random, s, summed);
      compare<int8_t>(DType::kInt8, random, s, summed);
      compare<int32_t>(DType::kInt32, random, s, summed);
      compare<uint64_t>(DType::kUint64, random, s, summed);  // most sums wrap
      compare<float>(DType::kFloat32, random, s, summed);
      compare<double>(DType::kFloat64, random, s, summed);
    }
}

TEST_P(PrefixSums, FourOfThemGiveTheSumOverABox) {
  std::mt19937 random(2);
  constexpr int64_t kHeight = 40, kWidth = 50;
  std::vector<uint8_t> picture(kHeight * kWidth);
  for (uint8_t& v : picture) v = static_cast<uint8_t>(random());
  std::vector<uint64_t> sums(picture.size());
  const bool both[] = {true, true};
  prefix_sums(View::dense(picture.data(), DType::kUint8, {kHeight, kWidth}), both,
              View::dense(sums.data(), DType::kUint64, {kHeight, kWidth}));
  const auto at = [&](int64_t y, int64_t x) {
    return y < 0 || x < 0 ? 0 : sums[static_cast<size_t>(y * kWidth + x)];
  };
  uint64_t want = 0;
  for (int64_t y = 10; y < 30; ++y)
    for (int64_t x = 0; x < 21; ++x) want += picture[static_cast<size_t>(y * kWidth + x)];
  EXPECT_EQ(at(29, 20) - at(9, 20) - at(29, -1) + at(9, -1), want);
}

INSTANTIATE_TEST_SUITE_P(Levels, PrefixSums, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
