// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/error.h"
#include "memory/poison.h"

namespace stoker {
namespace {

TEST(Arena, HandsOutAlignedDisjointBlocks) {
  Arena arena;
  std::mt19937 random(1);
  std::vector<std::pair<std::byte*, size_t>> blocks;
  for (int i = 0; i < 300; ++i) {
    const size_t n = random() % 20000;
    auto* p = static_cast<std::byte*>(arena.allocate(n));
    ASSERT_NE(p, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    std::memset(p, i & 255, n);
    blocks.push_back({p, n});
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t k = 0; k < blocks[i].second; ++k)
      ASSERT_EQ(blocks[i].first[k], std::byte(i & 255)) << i;
}

TEST(Arena, EmptyBlocksAreDistinct) {
  Arena arena;
  EXPECT_NE(arena.allocate(0), arena.allocate(0));
}

// Under AddressSanitizer this also shows that these bytes belong to the allocation.
TEST(Arena, SixtyFourBytesBehindAreReadable) {
  Arena arena;
  for (size_t n : {1u, 63u, 64u, 65u, 65536u - 64u, 65536u, 1000000u}) {
    auto* p = static_cast<unsigned char*>(arena.allocate(n));
    std::memset(p, 1, n);
    for (size_t k = n; k < n + 64; ++k) EXPECT_FALSE(is_poisoned(p + k)) << n << " + " << k - n;
  }
}

TEST(Arena, KeepsOneChunkForTheNextSampleOfThatSize) {
  Arena arena;
  auto sample = [&] {
    for (int i = 0; i < 40; ++i) arena.allocate(50000 + 1000 * i);
  };
  sample();
  const size_t used = arena.used();
  arena.reset();
  EXPECT_EQ(arena.used(), 0u);
  sample();
  const size_t held = arena.held();
  EXPECT_EQ(arena.used(), used);
  for (int epoch = 0; epoch < 1000; ++epoch) {
    arena.reset();
    void* first = arena.allocate(1);
    arena.reset();
    EXPECT_EQ(arena.allocate(1), first);
    arena.reset();
    sample();
    ASSERT_EQ(arena.held(), held);
  }
}

TEST(Arena, TrimGivesEverythingBack) {
  Arena arena;
  arena.allocate(1 << 20);
  EXPECT_GE(arena.held(), size_t{1} << 20);
  arena.trim();
  EXPECT_EQ(arena.held(), 0u);
  EXPECT_EQ(arena.used(), 0u);
  arena.array<double>(10)[9] = 1;
}

TEST(Arena, HoldsAtMostItsShare) {
  Arena arena(1 << 20);
  arena.allocate(600 << 10);
  arena.allocate(300 << 10);  // fits only if the chunk is not generous
  EXPECT_LE(arena.held(), size_t{1} << 20);
  EXPECT_THROW(arena.allocate(200 << 10), BeyondShare);
  arena.reset();
  arena.allocate(900 << 10);
  EXPECT_LE(arena.held(), size_t{1} << 20);
}

TEST(Arena, ChargesCountUntilReset) {
  Arena arena(1 << 20, 2 << 20);
  arena.charge(700 << 10);
  EXPECT_EQ(arena.need(), size_t{700} << 10);
  EXPECT_THROW(arena.charge(400 << 10), BeyondShare);
  EXPECT_THROW(arena.allocate(400 << 10), BeyondShare);
  arena.allocate(200 << 10);
  EXPECT_EQ(arena.need(), size_t{900} << 10);
  arena.reset();
  EXPECT_EQ(arena.need(), 0u);
  arena.allocate(900 << 10);
}

// What is compared with the ceiling is the need, not what the chunks happen to hold.
TEST(Arena, AloneTheCeilingIsExact) {
  constexpr size_t kCeiling = 4 << 20;
  for (const size_t part : {size_t{64}, size_t{40} << 10, size_t{600} << 10, kCeiling}) {
    Arena arena(1 << 20, kCeiling);
    arena.allocate(500 << 10);
    arena.set_alone(true);
    EXPECT_EQ(arena.held(), 0u);
    for (int sample = 0; sample < 2; ++sample) {
      while (arena.need() + part <= kCeiling) arena.allocate(part);
      if (arena.need() < kCeiling) arena.charge(kCeiling - arena.need());
      EXPECT_THROW(arena.allocate(1), TooLarge);
      EXPECT_THROW(arena.charge(1), TooLarge);
      arena.reset();
    }
    arena.set_alone(false);
    EXPECT_EQ(arena.held(), 0u);
    EXPECT_THROW(arena.allocate(2 << 20), BeyondShare);
  }
}

TEST(Arena, SaysWhatASampleNeedsAndWhatItMayTake) {
  Arena arena(1 << 20, 3 << 20);
  arena.allocate(512 << 10);
  try {
    arena.allocate(5 << 20);
    FAIL() << "over the ceiling";
  } catch (const TooLarge& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("5.5 MiB"), std::string::npos) << what;
    EXPECT_NE(what.find("3.0 MiB"), std::string::npos) << what;
  }
}

TEST(Arena, RefusesImpossibleSizes) {
  Arena arena;
  EXPECT_THROW(arena.allocate(SIZE_MAX), TooLarge);
  EXPECT_THROW(arena.array<double>(SIZE_MAX / 4), TooLarge);
  EXPECT_THROW(arena.charge(SIZE_MAX), TooLarge);
}

TEST(Arena, SaysWhatItsCeilingIsAPartOf) {
  const auto refusal = [](Arena arena) {
    try {
      arena.allocate(200);
    } catch (const TooLarge& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_TRUE(refusal(Arena(100, 100)).ends_with(" at most"));
  EXPECT_TRUE(refusal(Arena(100, 100, "a tenth of all")).ends_with(" at most, a tenth of all"));
  EXPECT_EQ(refusal(Arena(1000, 1000, "a tenth of all")), "");
}

TEST(Arena, PoisonsWhatResetForgets) {
  if (!kPoisons) GTEST_SKIP() << "only AddressSanitizer sees poison";
  Arena arena;
  auto* p = arena.array<char>(100);
  EXPECT_FALSE(is_poisoned(p));
  arena.reset();
  EXPECT_TRUE(is_poisoned(p));
  EXPECT_TRUE(is_poisoned(p + 99));
}

}  // namespace
}  // namespace stoker
