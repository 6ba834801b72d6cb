// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: what the tests of loops over rows share.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <type_traits>
#include <vector>

#include "kernels/rows/targets_testing.h"

namespace stoker::test {

// A test for each of all_instructions(), with the same random numbers for all.
class OnTarget : public ::testing::TestWithParam<Instructions> {
 protected:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  template <class T>
  std::vector<T> noise(size_t n) {
    std::vector<T> v(n);
    for (T& x : v) {
      if constexpr (std::is_floating_point_v<T>)
        x = std::uniform_real_distribution<T>(-300, 300)(rng_);
      else x = static_cast<T>(rng_());
    }
    return v;
  }
  std::mt19937 rng_{7};
  const Forced forced_{GetParam()};
};

}  // namespace stoker::test
