// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/normalize.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/elements/levels_testing.h"
#include "kernels/statistics/sum.h"

namespace stoker {
namespace {

class NormalizeAtCpuLevel : public AtCpuLevel {};

TEST_P(NormalizeAtCpuLevel, IsPointwiseWithTheNumbersOfTheGroup) {
  std::mt19937 random(7);
  Arena scratch;
  const auto one_to = [&](uint32_t most) { return 1 + static_cast<int64_t>(random() % most); };
  for (int trial = 0; trial < 200; ++trial) {
    const Shape full = trial % 4 ? Shape{one_to(5), one_to(9), one_to(70), one_to(4)}
                                 : Shape{one_to(3), one_to(2000)};
    const uint32_t which = random() % 16;
    Shape groups = full;
    for (int a = 0; a < full.rank; ++a)
      if (which >> a & 1) groups[a] = 1;
    Shape step = View::dense_strides(groups, 1);
    for (int a = 0; a < full.rank; ++a)
      if (which >> a & 1) step[a] = 0;
    std::vector<float> means(static_cast<size_t>(groups.volume())), factors(means);
    for (float& m : means) m = static_cast<float>(random() % 256);
    for (float& f : factors) f = static_cast<float>(random() % 100) / 64;
    std::vector<int16_t> in(static_cast<size_t>(2 * full.volume()));
    for (int16_t& x : in) x = static_cast<int16_t>(random());
    View from = View::dense(in.data(), DType::kInt16, full);
    if (trial % 3 == 0)  // every other element
      for (int a = 0; a < full.rank; ++a) from.strides[a] *= 2;
    std::vector<float> out(static_cast<size_t>(full.volume()));
    View to = View::dense(out.data(), DType::kFloat32, full);
    normalize(from, means.data(), factors.data(), step, 3, to, scratch);
    const Shape dense = View::dense_strides(full, 1);
    for (int64_t k = 0; k < full.volume(); ++k) {
      int64_t offset = 0, group = 0;
      for (int a = 0; a < full.rank; ++a) {
        const int64_t p = k / dense[a] % full[a];
        offset += p * from.strides[a], group += p * step[a];
      }
      const int16_t x = in[static_cast<size_t>(offset) / sizeof(int16_t)];
      const auto g = static_cast<size_t>(group);
      ASSERT_EQ(out[static_cast<size_t>(k)], pointwise<float>(x, means[g], factors[g], 3))
          << trial << ' ' << k;
    }
  }
}

TEST_P(NormalizeAtCpuLevel, WritesToRowsThatAreNotDense) {
  Arena scratch;
  const uint8_t in[] = {1, 2, 3, 4, 5, 6};
  const float mean[] = {1, 0, 2}, factor[] = {2, 1, 0.5};
  float out[12] = {};
  View to = View::dense(out, DType::kFloat32, {2, 3});
  for (int a = 0; a < 2; ++a) to.strides[a] *= 2;
  normalize(View::dense(const_cast<uint8_t*>(in), DType::kUint8, {2, 3}), mean, factor, {0, 1}, 1,
            to, scratch);
  const float expected[] = {1, 3, 1.5, 7, 6, 3};
  for (int k = 0; k < 6; ++k) EXPECT_EQ(out[2 * k], expected[k]) << k;
}

TEST_P(NormalizeAtCpuLevel, SquaresAreOfDistancesToTheCentre) {
  Arena scratch;
  std::vector<uint8_t> in(3 * 10000);
  for (size_t k = 0; k < in.size(); ++k) in[k] = static_cast<uint8_t>(k * k / 7);
  const double centres[] = {10, 100, 200.5};
  double sums[3] = {}, expected[3] = {};
  const bool reduced[] = {true, false};
  sum_squared_distances(View::dense(in.data(), DType::kUint8, {10000, 3}), reduced, centres,
                        View::dense(sums, DType::kFloat64, {3}), scratch);
  for (size_t k = 0; k < in.size(); ++k)
    expected[k % 3] += (in[k] - centres[k % 3]) * (in[k] - centres[k % 3]);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(sums[c], expected[c]);  // exact: quarters
}

INSTANTIATE_TEST_SUITE_P(Normalize, NormalizeAtCpuLevel, testing::ValuesIn(kCpuLevels), level_name);

TEST(DeviationScale, FactorsAreZeroWhereThereIsNoDeviation) {
  EXPECT_EQ((DeviationScale{2, 0, 1}.computed(18, 3)), 2 / 3.0f);
  EXPECT_EQ((DeviationScale{2, 0, 0}.computed(0, 3)), 0);
  EXPECT_EQ((DeviationScale{2, 0, 3}.computed(18, 3)), 0);
  EXPECT_EQ((DeviationScale{2, 16, 0}.given(3)), 0.4f);
}

}  // namespace
}  // namespace stoker
