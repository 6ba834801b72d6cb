// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/pinned_allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "device/simulated/simulated.h"
#include "memory/pool.h"

namespace stoker {
namespace {

constexpr size_t kSlab = PinnedAllocator::kSlab;

TEST(PinnedAllocator, PartsNeverOverlapAndNeighboursJoin) {
  SimulatedDevice device;
  PinnedAllocator allocations(device);
  std::mt19937 random(1);
  std::vector<std::pair<std::byte*, size_t>> mine;
  for (int round = 0; round < 4000; ++round) {
    if (mine.size() < 40 && random() % 5 < 3) {
      const size_t size = 1 + (random() % 3 ? random() % 3000 : random() % 700000);
      std::byte* allocation = allocations.take(size);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(allocation) % (size < 65536 ? 64 : 4096), 0u);
      std::memset(allocation, static_cast<int>(round), size);
      mine.emplace_back(allocation, size);
      std::swap(mine.back(), mine[random() % mine.size()]);
    } else if (!mine.empty()) {
      const auto [allocation, size] = mine.back();
      ASSERT_EQ(std::memcmp(allocation, allocation + size / 2, 1), 0)
          << "another part was written here";
      ASSERT_EQ(std::memcmp(allocation, allocation + size - 1, 1), 0);
      allocations.give_back(allocation, size);
      mine.pop_back();
    }
  }
  for (const auto& [allocation, size] : mine) allocations.give_back(allocation, size);
  EXPECT_EQ(allocations.held(), kSlab) << "what is free is found again";
  std::byte* whole = allocations.take(kSlab);
  EXPECT_EQ(allocations.held(), kSlab) << "all parts became one";
  allocations.give_back(whole, kSlab);
  allocations.trim();
  EXPECT_EQ(allocations.held(), 0u);
  EXPECT_EQ(device.usage().pinned, 0u);
  EXPECT_EQ(device.usage().pinned_high_water, kSlab);
}

TEST(PinnedAllocator, LargeOnesHaveTheirOwnSlab) {
  SimulatedDevice device;
  PinnedAllocator allocations(device);
  std::byte* small = allocations.take(100);
  std::byte* large = allocations.take(kSlab + 1);
  EXPECT_EQ(device.usage().pinned, 2 * kSlab + 4096);
  allocations.give_back(large, kSlab + 1);
  allocations.trim();
  EXPECT_EQ(device.usage().pinned, kSlab) << "what is in use stays";
  allocations.give_back(small, 100);
}

TEST(PinnedAllocator, TakesLessWhereTheSystemHasNoWholeSlab) {
  SimulatedDevice device({.pinned_limit = 1 << 20});
  PinnedAllocator allocations(device);
  std::byte* some = allocations.take(1 << 19);
  ASSERT_NE(some, nullptr);
  EXPECT_EQ(device.usage().pinned, size_t{1} << 19);
  EXPECT_EQ(allocations.take(1 << 20), nullptr);
  allocations.give_back(some, 1 << 19);
}

TEST(PinnedAllocator, FeedAPool) {
  SimulatedDevice device;
  const auto allocator = std::make_shared<PinnedAllocator>(device);
  std::shared_ptr<Buffer> kept;
  {
    HostPool pool(size_t{1} << 30, allocator);
    for (int round = 0; round < 50; ++round) {
      const auto a = pool.try_acquire(100000, Use::kOutput), b = pool.try_acquire(7, Use::kOutput);
      std::memset(a->data(), 1, a->size());
      kept = b;
    }
    EXPECT_EQ(allocator->held(), kSlab);
    kept.reset();
    pool.trim();
    EXPECT_EQ(device.usage().pinned, 0u);
    kept = pool.try_acquire(100, Use::kHeld);
  }
  kept->data()[99] = std::byte{1};
  EXPECT_EQ(device.usage().pinned, kSlab) << "a buffer may outlive its pool";
}

// Pinning and unpinning wait here for a call that gives memory back, as a GPU's driver may.
TEST(PinnedAllocator, PinningHoldsNoLockThatAStreamsCallTakes) {
  SimulatedDevice device;
  const auto stream = device.make_stream("s");
  PinnedAllocator allocations(device);
  std::byte* held = nullptr;
  int calls = 0;
  device.on_pinning([&] {
    if (held)
      stream->call([&] { allocations.give_back(std::exchange(held, nullptr), 100); }, 0, "end");
    stream->synchronize();
    ++calls;
  });
  held = allocations.take(100);
  std::byte* large = allocations.take(kSlab);
  EXPECT_EQ(held, nullptr);
  EXPECT_EQ(calls, 2);
  allocations.give_back(large, kSlab);
  held = allocations.take(100);
  allocations.trim();
  EXPECT_EQ(held, nullptr);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(allocations.held(), kSlab) << "what came back meanwhile is kept";
  allocations.trim();
  EXPECT_EQ(allocations.held(), 0u);
}

}  // namespace
}  // namespace stoker
