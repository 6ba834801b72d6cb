// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace stoker {
namespace {

TEST(Hash, FollowsSplitmix) {
  // The published generator with seed 0 gives these as its first outputs.
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(mix(0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4u);
}

// These values are saved in graphs and states: a change here breaks what users have stored.
TEST(Hash, GoldenValues) {
  EXPECT_EQ(mix(1, 2), 0xbcd9dbb49673066bu);
  EXPECT_EQ(mix(1, 2, 3), 0xd0734750fde362b3u);
  EXPECT_EQ(hash64(""), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hash64("readers.file"), 0x2b2f91bdec8d42a7u);
  EXPECT_EQ(hash64("\xff 12345678 and more"), 0x61fbb401af0142f5u);
}

TEST(Hash, OrderAndLengthMatter) {
  EXPECT_NE(mix(1, 2), mix(2, 1));
  EXPECT_NE(mix(0), mix(0, 0));
  EXPECT_NE(hash64("a"), hash64(std::string_view("a\0", 2)));
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 100; ++a)
    for (uint64_t b = 0; b < 100; ++b) seen.insert(mix(a, b));
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(Hash, OneBitMovesHalfOfTheBits) {
  const std::string text = "some file name.jpg";
  int moved = 0;
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string other = text;
    other[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    const int d = std::popcount(hash64(text) ^ hash64(other));
    EXPECT_GT(d, 8);
    moved += d;
  }
  EXPECT_NEAR(moved / (text.size() * 8.0), 32, 2);
}

static_assert(hash64("known when compiled") != 0);

}  // namespace
}  // namespace stoker
