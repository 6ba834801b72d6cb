// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/chance/beta.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

std::vector<double> draws(double alpha, int count) {
  std::vector<double> found;
  for (int i = 0; i < count; ++i) {
    Chance chance(5, 6, 0, i);
    found.push_back(beta_of(chance, alpha, alpha));
  }
  return found;
}

// Users' runs depend on these draws: where they change, kRngVersion must change.
TEST(Beta, GoldenDraws) {
  using exact::detail::bits_of;
  EXPECT_EQ(kRngVersion, 1);
  EXPECT_EQ(bits_of(draws(0.2, 3)[2]), 0x3fdb60d4b2b4633cu);
  EXPECT_EQ(bits_of(draws(1, 3)[2]), 0x3fdaa3e81f75dc11u);
  EXPECT_EQ(bits_of(draws(8, 3)[2]), 0x3fde71a70558fc66u);
}

// The mean is 1/2 and the variance 1 / (4 (2 alpha + 1)). A right generator misses these bounds of
// six standard errors for about one seed in a hundred million.
TEST(Beta, MeanAndVarianceAreRight) {
  constexpr int kCount = 20000;
  for (const double alpha : {0.1, 0.4, 1.0, 1.5, 4.0, 100.0}) {
    double sum = 0, squares = 0;
    for (const double x : draws(alpha, kCount)) {
      EXPECT_GE(x, 0);
      EXPECT_LE(x, 1);
      sum += x, squares += (x - 0.5) * (x - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum / kCount, 0.5, 6 * std::sqrt(variance / kCount)) << alpha;
    EXPECT_NEAR(squares / kCount, variance, 6 * variance * std::sqrt(2.0 / kCount)) << alpha;
  }
}

TEST(Beta, ExtremeShapesGiveNumbers) {
  for (const double alpha : {1e-6, 1e-3, 1e6})
    for (const double x : draws(alpha, 1000)) {
      EXPECT_TRUE(x >= 0 && x <= 1) << alpha;
      EXPECT_NEAR(x, 0.5, alpha > 1 ? 0.01 : 0.5);
      EXPECT_TRUE(alpha > 1e-5 || x < 1e-9 || x > 1 - 1e-9);
    }
}

}  // namespace
}  // namespace stoker
