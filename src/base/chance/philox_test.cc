// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/chance/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace stoker {
namespace {

void expect_words(const Words& got, const Words& want) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got.w[i], want.w[i]) << i;
}

TEST(Philox, PublishedVectors) {
  expect_words(philox({{0, 0, 0, 0}}, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  constexpr uint32_t kOnes = 0xffffffff;
  expect_words(philox({{kOnes, kOnes, kOnes, kOnes}}, ~uint64_t{0}),
               {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect_words(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822),
               {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Chance, KeyAndCounterAreTheDocumentedOnes) {
  const Chance c(5, 6, 7, (int64_t{3} << 32) + 8, 9);
  expect_words(c.block(2), philox({{2, 9, 8, 3}}, mix(5, 6, 7)));
  expect_words(c.block((uint64_t{1} << 32) + 2), philox({{2, 9, 8, 3 + (1 << 16)}}, mix(5, 6, 7)));
  EXPECT_EQ(c.bits(11), c.block(2).w[3]);
}

// Users' runs depend on these draws: where they change, kRngVersion must change.
TEST(Chance, GoldenDraws) {
  Chance c(42, hash64("random.uniform"), 3, 1000, 1);
  EXPECT_EQ(kRngVersion, 1);
  EXPECT_EQ(c.next(), 0xaaeb8653u);
  EXPECT_EQ(c.next64(), 0xc37b5246a9d40965u);
  EXPECT_EQ(exact::detail::bits_of(c.uniform()), 0x3fba917b61861378u);
  EXPECT_EQ(exact::detail::bits_of(c.uniform(-1.f, 3.f)), 0xbfceae4260000000u);
  EXPECT_EQ(c.uniform_int(1000000), 581309);
  EXPECT_EQ(c.tell(), 8u);
  const NormalPair pair = normal_of(0x01234567, 0x89abcdef);
  EXPECT_EQ(exact::detail::bits_of(pair.first), 0xc009977216b4ba99u);
  EXPECT_EQ(exact::detail::bits_of(pair.second), 0xbfe8c3d8937ec996u);
}

TEST(Chance, CursorAndRandomAccessAgree) {
  Chance c(1, 2, 3, 4);
  std::vector<uint32_t> seen;
  for (uint64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(c.tell(), i);
    seen.push_back(c.next());
    EXPECT_EQ(c.bits(i), seen.back());
  }
  for (uint64_t i : {39, 0, 17, 16, 3}) {
    c.seek(i);
    EXPECT_EQ(c.next(), seen[i]);
  }
}

TEST(Chance, EveryPartOfTheKeyMatters) {
  std::set<uint32_t> first;
  for (uint64_t seed : {0, 1})
    for (uint64_t op : {0, 1})
      for (int64_t epoch : {0, 1})
        for (int64_t position : {int64_t{0}, int64_t{1}, int64_t{1} << 32, int64_t{1} << 47})
          for (uint32_t child : {0, 1})
            first.insert(Chance(seed, op, epoch, position, child).bits(0));
  EXPECT_EQ(first.size(), 64u);
}

TEST(Chance, UniformIsUniform) {
  Chance c(1, 2, 3, 4);
  constexpr int kDraws = 100000;
  double sum = 0, squares = 0;
  std::vector<int> bins(20);
  for (int i = 0; i < kDraws; ++i) {
    const double u = c.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    ++bins[static_cast<size_t>(u * 20)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.004);
  EXPECT_NEAR(squares / kDraws, 1. / 3, 0.004);
  double chi = 0;
  for (int n : bins) chi += (n - kDraws / 20.) * (n - kDraws / 20.) / (kDraws / 20.);
  EXPECT_LT(chi, 43.8);  // 19 degrees of freedom: a chance of one in a thousand
  EXPECT_GT(chi, 5.4);
}

TEST(Chance, UniformStaysBelowItsUpperEnd) {
  const float inf = std::numeric_limits<float>::infinity();
  const float one = 1.f, up = std::nextafter(one, inf);
  Chance c(1, 2, 3, 4);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(c.uniform(one, up), one);
    EXPECT_EQ(c.uniform(std::nextafter(0.f, -inf), 0.f), std::nextafter(0.f, -inf));
    EXPECT_EQ(c.uniform(-up, -one), -up);
    EXPECT_EQ(c.uniform(5.f, 5.f), 5.f);
    const float wide = c.uniform(-3e38f, 3e38f);
    EXPECT_TRUE(wide >= -3e38f && wide < 3e38f);
  }
  EXPECT_EQ(c.tell(), 500u);
}

TEST(Chance, IntegersCoverTheirRangeEvenly) {
  Chance c(9, 9, 9, 9);
  std::vector<int> seen(7);
  for (int i = 0; i < 70000; ++i) ++seen[static_cast<size_t>(c.uniform_int(7))];
  for (int n : seen) EXPECT_NEAR(n, 10000, 400);
  EXPECT_EQ(c.uniform_int(1), 0);
  const int64_t huge = std::numeric_limits<int64_t>::max();
  int upper = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t x = c.uniform_int(huge);
    ASSERT_TRUE(x >= 0 && x < huge);
    upper += x > huge / 2;
  }
  EXPECT_NEAR(upper, 500, 60);
  EXPECT_EQ(c.tell(), 2u * 71001);
}

TEST(Chance, IntegersAreTheHighHalfOfTheProduct) {
  for (int64_t n : {int64_t{3}, int64_t{1000003}, (int64_t{1} << 62) + 12345,
                    std::numeric_limits<int64_t>::max()}) {
    Chance a(n, 0, 0, 0), b(n, 0, 0, 0);
    for (int i = 0; i < 200; ++i) {
      __extension__ using Wide = unsigned __int128;
      const Wide product = static_cast<Wide>(b.next64()) * static_cast<uint64_t>(n);
      EXPECT_EQ(a.uniform_int(n), static_cast<int64_t>(product >> 64));
    }
  }
}

TEST(Chance, FlipKeepsItsPromises) {
  Chance c(1, 1, 1, 1);
  int heads = 0;
  for (int i = 0; i < 20000; ++i) {
    heads += c.flip(0.3);
    ASSERT_FALSE(c.flip(0));
    ASSERT_TRUE(c.flip(1));
  }
  EXPECT_NEAR(heads, 6000, 260);
  EXPECT_EQ(c.tell(), 60000u);
}

TEST(Chance, NormalIsNormal) {
  Chance c(8, 1, 1, 1);
  constexpr int kPairs = 100000;
  double sum = 0, squares = 0, fourth = 0, product = 0;
  int inside = 0;
  for (int i = 0; i < kPairs; ++i) {
    const uint32_t draw = c.next();
    const NormalPair pair = normal_of(draw, c.next());
    product += pair.first * pair.second;
    for (const double x : {pair.first, pair.second}) {
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
      inside += std::abs(x) < 1;
    }
  }
  EXPECT_NEAR(sum / kPairs, 0, 0.02);
  EXPECT_NEAR(squares / kPairs, 2, 0.03);
  EXPECT_NEAR(fourth / kPairs, 6, 0.2);
  EXPECT_NEAR(product / kPairs, 0, 0.015);
  EXPECT_NEAR(inside, 2 * 68269, 900);
}

TEST(Chance, NormalOfTheOutermostDraws) {
  const NormalPair far = normal_of(0, 0), near = normal_of(0xffffffff, 1u << 31);
  EXPECT_NEAR(far.first, std::sqrt(2 * 33 * std::log(2.0)), 1e-12);
  EXPECT_EQ(far.second, 0);
  EXPECT_NEAR(near.first, -std::sqrt(0x1p-32), 1e-14);
}

}  // namespace
}  // namespace stoker
