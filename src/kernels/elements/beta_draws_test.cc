// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/beta_draws.h"

#include <vector>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

class BetaDraws : public AtCpuLevel {};

TEST_P(BetaDraws, AreThoseOneByOne) {
  const Chance chance(1, 2, 3, 4);
  for (const double alpha : {1e-6, 0.2, 1.0, 3.5, 1e6})
    for (const double beta : {1e-3, 0.7, 1.0, 40.0})
      for (const int64_t first : {int64_t{0}, int64_t{77}, (int64_t{1} << 40) - 3})
        for (const int64_t n : {0, 1, 127, 300}) {
          std::vector<double> got(static_cast<size_t>(n) + 1, -1), want(got);
          beta_draws(chance, first, alpha, beta, got.data(), n);
          for (int64_t k = 0; k < n; ++k) {
            Chance own = chance;
            own.seek(kBetaDraws * static_cast<uint64_t>(first + k));
            want[static_cast<size_t>(k)] = beta_of(own, alpha, beta);
          }
          ASSERT_EQ(got, want) << alpha << ' ' << beta << ' ' << first << ' ' << n;
        }
}

INSTANTIATE_TEST_SUITE_P(Levels, BetaDraws, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
