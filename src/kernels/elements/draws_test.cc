// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/draws.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

class DrawWords : public ::testing::TestWithParam<test::Instructions> {};

TEST_P(DrawWords, AreThoseOfTheChance) {
  const test::Forced forced(GetParam());
  const Chance chance(1, 2, 3, (int64_t{1} << 40) + 5, 6);
  for (const uint64_t first : {uint64_t{0}, uint64_t{1}, uint64_t{6}, (uint64_t{1} << 34) - 9})
    for (const int64_t n : {0, 1, 2, 3, 4, 5, 31, 255, 256, 257, 1000}) {
      std::vector<uint32_t> words(static_cast<size_t>(n) + 1, 77);
      draw_words(chance, first, words.data(), n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(words[static_cast<size_t>(i)], chance.bits(first + static_cast<uint64_t>(i)))
            << first << ' ' << n << ' ' << i;
      ASSERT_EQ(words.back(), 77u);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, DrawWords, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace stoker
