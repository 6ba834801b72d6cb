// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

class SumAtCpuLevel : public AtCpuLevel {};

// A sum by the words of Note [Sums].
double dealt(const std::vector<float>& v) {
  double total = 0;
  for (size_t begin = 0; begin < v.size(); begin += kSumBlock) {
    std::vector<double> lanes(kSumLanes);
    for (size_t e = begin; e < std::min<size_t>(begin + kSumBlock, v.size()); ++e)
      lanes[(e - begin) % kSumLanes] += static_cast<double>(v[e]);
    while (lanes.size() > 1) {
      std::vector<double> halves(lanes.size() / 2);
      for (size_t l = 0; l < halves.size(); ++l) halves[l] = lanes[l] + lanes[l + halves.size()];
      lanes = halves;
    }
    total += lanes[0];
  }
  return total;
}

TEST_P(SumAtCpuLevel, SumsAreDealtToLanes) {
  std::mt19937 random(1);
  Arena scratch;
  for (int trial = 0; trial < 60; ++trial) {
    Shape shape;
    for (int a = 0; a < 4; ++a) shape.push_back(1 + static_cast<int64_t>(random() % (trial + 2)));
    if (trial % 5 == 0) shape = {1, 1 + static_cast<int64_t>(random() % 20000), 1, 2};
    std::vector<float> in(static_cast<size_t>(shape.volume()));
    for (float& x : in)
      x = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 60) - 60);
    const uint32_t which = random() % 16;
    bool reduced[4];
    std::vector<std::vector<float>> parts;
    Shape kept;
    for (int a = 0; a < 4; ++a) {
      reduced[a] = (which >> a & 1) != 0;
      if (!reduced[a]) kept.push_back(shape[a]);
    }
    parts.resize(static_cast<size_t>(kept.volume()));
    const Shape step = View::dense_strides(shape, 1);
    for (int64_t k = 0; k < shape.volume(); ++k) {
      int64_t part = 0;
      for (int a = 0; a < 4; ++a)
        if (!reduced[a]) part = part * shape[a] + k / step[a] % shape[a];
      parts[static_cast<size_t>(part)].push_back(in[static_cast<size_t>(k)]);
    }
    std::vector<double> out(parts.size());
    sum(View::dense(in.data(), DType::kFloat32, shape), reduced,
        View::dense(out.data(), DType::kFloat64, kept), scratch);
    for (size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], dealt(parts[k])) << trial << ' ' << k;
  }
}

TEST_P(SumAtCpuLevel, SumsOfWholeNumbersAreExact) {
  Arena scratch;
  const bool reduced[] = {true};
  std::vector<uint16_t> most(100000, 65535);
  uint64_t all = 0;
  sum(View::dense(most.data(), DType::kUint16, {100000}), reduced,
      View::dense(&all, DType::kUint64, {}), scratch);
  EXPECT_EQ(all, 6553500000u);
  std::vector<int64_t> large = {INT64_MAX, 1, INT64_MIN, 7};
  int64_t wrapped = 0;
  sum(View::dense(large.data(), DType::kInt64, {4}), reduced,
      View::dense(&wrapped, DType::kInt64, {}), scratch);
  EXPECT_EQ(wrapped, 7);
}

TEST_P(SumAtCpuLevel, WideSumsDoNotWrap) {
  Arena scratch;
  const bool reduced[] = {true};
  std::vector<uint64_t> large(8, uint64_t{1} << 63);
  double all = 0;
  wide_sum(View::dense(large.data(), DType::kUint64, {8}), reduced,
           View::dense(&all, DType::kFloat64, {}), scratch);
  EXPECT_EQ(all, 0x1p66);
}

TEST_P(SumAtCpuLevel, ExtremesAreNanWhereAValueIs) {
  Arena scratch;
  const bool reduced[] = {true};
  for (const int64_t size : {1, 2, 31, 5000}) {
    std::vector<float> values(static_cast<size_t>(size), 2);
    for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
      const View in = View::dense(values.data(), DType::kFloat32, {size});
      float least = 0, greatest = 0;
      const auto find = [&] {
        const View low = View::dense(&least, DType::kFloat32, {});
        const View high = View::dense(&greatest, DType::kFloat32, {});
        extremes(in, reduced, false, low, scratch);
        extremes(in, reduced, true, high, scratch);
      };
      values[static_cast<size_t>(at)] = NAN;
      find();
      EXPECT_TRUE(std::isnan(least) && std::isnan(greatest)) << size << ' ' << at;
      values[static_cast<size_t>(at)] = -3;
      find();
      EXPECT_EQ(least, -3) << size << ' ' << at;
      EXPECT_EQ(greatest, size == 1 ? -3 : 2) << size << ' ' << at;
      values[static_cast<size_t>(at)] = 2;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sum, SumAtCpuLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
