// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/pinned_blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "device/simulated/simulated.h"
#include "memory/pool.h"

namespace stoker {
namespace {

constexpr size_t kSlab = PinnedBlocks::kSlab;

TEST(PinnedBlocks, PartsNeverOverlapAndNeighboursJoin) {
  SimulatedDevice device;
  PinnedBlocks blocks(device);
  std::mt19937 random(1);
  std::vector<std::pair<std::byte*, size_t>> mine;
  for (int round = 0; round < 4000; ++round) {
    if (mine.size() < 40 && random() % 5 < 3) {
      const size_t size = 1 + (random() % 3 ? random() % 3000 : random() % 700000);
      std::byte* block = blocks.take(size);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % (size < 65536 ? 64 : 4096), 0u);
      std::memset(block, static_cast<int>(round), size);
      mine.emplace_back(block, size);
      std::swap(mine.back(), mine[random() % mine.size()]);
    } else if (!mine.empty()) {
      const auto [block, size] = mine.back();
      ASSERT_EQ(std::memcmp(block, block + size / 2, 1), 0) << "another part was written here";
      ASSERT_EQ(std::memcmp(block, block + size - 1, 1), 0);
      blocks.give_back(block, size);
      mine.pop_back();
    }
  }
  for (const auto& [block, size] : mine) blocks.give_back(block, size);
  EXPECT_EQ(blocks.held(), kSlab) << "what is free is found again";
  std::byte* whole = blocks.take(kSlab);
  EXPECT_EQ(blocks.held(), kSlab) << "all parts became one";
  blocks.give_back(whole, kSlab);
  blocks.trim();
  EXPECT_EQ(blocks.held(), 0u);
  EXPECT_EQ(device.usage().pinned, 0u);
  EXPECT_EQ(device.usage().pinned_high_water, kSlab);
}

TEST(PinnedBlocks, LargeOnesHaveTheirOwnSlab) {
  SimulatedDevice device;
  PinnedBlocks blocks(device);
  std::byte* small = blocks.take(100);
  std::byte* large = blocks.take(kSlab + 1);
  EXPECT_EQ(device.usage().pinned, 2 * kSlab + 4096);
  blocks.give_back(large, kSlab + 1);
  blocks.trim();
  EXPECT_EQ(device.usage().pinned, kSlab) << "what is in use stays";
  blocks.give_back(small, 100);
}

TEST(PinnedBlocks, TakesLessWhereTheSystemHasNoWholeSlab) {
  SimulatedDevice device({.pinned_limit = 1 << 20});
  PinnedBlocks blocks(device);
  std::byte* some = blocks.take(1 << 19);
  ASSERT_NE(some, nullptr);
  EXPECT_EQ(device.usage().pinned, size_t{1} << 19);
  EXPECT_EQ(blocks.take(1 << 20), nullptr);
  blocks.give_back(some, 1 << 19);
}

TEST(PinnedBlocks, FeedAPool) {
  SimulatedDevice device;
  const auto source = std::make_shared<PinnedBlocks>(device);
  std::shared_ptr<Buffer> kept;
  {
    HostPool pool(size_t{1} << 30, source);
    for (int round = 0; round < 50; ++round) {
      const auto a = pool.try_acquire(100000, Use::kOutput), b = pool.try_acquire(7, Use::kOutput);
      std::memset(a->data(), 1, a->size());
      kept = b;
    }
    EXPECT_EQ(source->held(), kSlab);
    kept.reset();
    pool.trim();
    EXPECT_EQ(device.usage().pinned, 0u);
    kept = pool.try_acquire(100, Use::kHeld);
  }
  kept->data()[99] = std::byte{1};
  EXPECT_EQ(device.usage().pinned, kSlab) << "a buffer may outlive its pool";
}

// As a GPU's driver may, locking and unlocking memory waits here for a call that gives a block back.
TEST(PinnedBlocks, PinningHoldsNoLockThatAStreamsCallTakes) {
  SimulatedDevice device;
  const auto stream = device.make_stream("s");
  PinnedBlocks blocks(device);
  std::byte* held = nullptr;
  int calls = 0;
  device.on_pinning([&] {
    if (held) stream->call([&] { blocks.give_back(std::exchange(held, nullptr), 100); }, 0, "end");
    stream->synchronize();
    ++calls;
  });
  held = blocks.take(100);
  std::byte* large = blocks.take(kSlab);
  EXPECT_EQ(held, nullptr);
  EXPECT_EQ(calls, 2);
  blocks.give_back(large, kSlab);
  held = blocks.take(100);
  blocks.trim();
  EXPECT_EQ(held, nullptr);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(blocks.held(), kSlab) << "what came back meanwhile is kept";
  blocks.trim();
  EXPECT_EQ(blocks.held(), 0u);
}

}  // namespace
}  // namespace stoker
