// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "memory/poison.h"

namespace stoker {
namespace {

constexpr size_t kMiB = 1 << 20;

#if defined(__SANITIZE_THREAD__)
constexpr bool kSanitizedAllocator = true;
#elif defined(__has_feature)
constexpr bool kSanitizedAllocator = kPoisons || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitizedAllocator = kPoisons;
#endif

TEST(SizeClass, IsNextOfFourStepsPerPowerOfTwo) {
  EXPECT_EQ(size_class(0), 256u);
  EXPECT_EQ(size_class(256), 256u);
  EXPECT_EQ(size_class(257), 320u);
  EXPECT_EQ(size_class(512), 512u);
  EXPECT_EQ(size_class(513), 640u);
  EXPECT_EQ(size_class(kMiB), kMiB);
  EXPECT_EQ(size_class(kMiB + 1), kMiB + kMiB / 4);
  EXPECT_EQ(size_class(SIZE_MAX), SIZE_MAX);
  for (size_t n = 256; n < 100000; n += 37) {
    EXPECT_GE(size_class(n), n);
    EXPECT_LE(size_class(n), n + n / 4);
    EXPECT_EQ(size_class(size_class(n)), size_class(n));
    EXPECT_EQ(size_class(n) % 64, 0u);
  }
}

TEST(HostPool, BuffersAreAlignedAndReadableBehind) {
  HostPool pool;
  for (size_t n : {0u, 1u, 255u, 256u, 257u, 5000u, 65536u, 1000000u}) {
    auto b = pool.try_acquire(n, Use::kOutput);
    ASSERT_TRUE(b);
    EXPECT_EQ(b->size(), n);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % (n < 65536 ? 64 : 4096), 0u) << n;
    std::memset(b->data(), 7, n);
    for (size_t k = 0; k < n + 64; ++k)
      ASSERT_FALSE(is_poisoned(b->data() + k)) << n << " at " << k;
  }
}

TEST(HostPool, GrantsUpToTheLimitAndNeverOver) {
  HostPool pool(4 * kMiB);
  auto a = pool.try_acquire(2 * kMiB, Use::kOutput);
  EXPECT_TRUE(pool.has_room(2 * kMiB));
  EXPECT_FALSE(pool.has_room(2 * kMiB + 1));
  EXPECT_EQ(pool.try_acquire(2 * kMiB + 1, Use::kOutput), nullptr);
  auto b = pool.try_acquire(2 * kMiB, Use::kHeld);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(pool.try_acquire(1, Use::kOutput), nullptr);
  b.reset();
  EXPECT_TRUE(pool.try_acquire(1, Use::kOutput));
  EXPECT_EQ(pool.try_acquire(SIZE_MAX, Use::kOutput), nullptr);
}

TEST(HostPool, EvenWithoutLimitNothingImpossibleIsGranted) {
  HostPool pool;
  EXPECT_EQ(pool.try_acquire(SIZE_MAX - 1, Use::kOutput), nullptr);
  EXPECT_EQ(pool.usage().in_use, 0u);
}

TEST(HostPool, SaysWhenTheSystemHasNone) {
  if (kSanitizedAllocator) GTEST_SKIP() << "the sanitizer's own allocator ends the process instead";
  HostPool pool;
  EXPECT_THROW(pool.try_acquire(size_t{1} << 60, Use::kOutput), BudgetError);
  EXPECT_EQ(pool.usage().in_use, 0u);
  EXPECT_EQ(pool.usage().buffers[0], 0);
}

TEST(HostPool, ReusesWhatWasLetGo) {
  HostPool pool(8 * kMiB);
  auto a = pool.try_acquire(kMiB - 1000, Use::kOutput);
  std::byte* where = a->data();
  a.reset();
  EXPECT_EQ(pool.usage().cached, kMiB);
  auto b = pool.try_acquire(kMiB, Use::kHeld);
  EXPECT_EQ(b->data(), where);
  EXPECT_EQ(pool.usage().cached, 0u);
}

TEST(HostPool, CachedBlocksMakeRoomForOtherSizes) {
  HostPool pool(4 * kMiB);
  for (size_t size : {4 * kMiB, kMiB, 3 * kMiB, 2 * kMiB}) {
    auto b = pool.try_acquire(size, Use::kOutput);
    ASSERT_TRUE(b) << size;
    const Usage u = pool.usage();
    EXPECT_LE(u.in_use + u.cached, u.limit);
  }
  EXPECT_LE(pool.usage().high_water_held, 4 * kMiB);
}

TEST(HostPool, LabelsSayWhoHoldsWhat) {
  HostPool pool(64 * kMiB);
  auto a = pool.try_acquire(kMiB, Use::kOutput), b = pool.try_acquire(2 * kMiB, Use::kOutput);
  pool.set_use(*b, Use::kHeld);
  const Usage u = pool.usage();
  EXPECT_EQ(u.of(Use::kOutput), kMiB);
  EXPECT_EQ(u.of(Use::kHeld), 2 * kMiB);
  EXPECT_EQ(u.buffers[static_cast<int>(Use::kHeld)], 1);
  EXPECT_EQ(u.in_use, 3 * kMiB);
  EXPECT_EQ(pool.explain(),
            "Host memory: 3.0 MiB in use of a limit of 64.0 MiB (1.0 MiB in outputs being made, 1 "
            "buffer; 2.0 MiB in outputs that you hold, 1 buffer), 0 B cached, at most 3.0 MiB in "
            "use so far.");
  b.reset();
  EXPECT_EQ(pool.usage().of(Use::kHeld), 0u);
  EXPECT_EQ(pool.usage().buffers[static_cast<int>(Use::kHeld)], 0);
}

TEST(HostPool, RefusesABufferOfAnother) {
  HostPool one, two;
  auto b = one.try_acquire(1, Use::kOutput);
  EXPECT_THROW(two.set_use(*b, Use::kHeld), Error);
}

TEST(HostPool, HighWaterStaysAndTrimGivesBack) {
  HostPool pool(16 * kMiB);
  {
    auto a = pool.try_acquire(4 * kMiB, Use::kOutput), b = pool.try_acquire(kMiB, Use::kOutput);
  }
  EXPECT_EQ(pool.usage().high_water, 5 * kMiB);
  EXPECT_EQ(pool.usage().in_use, 0u);
  EXPECT_EQ(pool.usage().cached, 5 * kMiB);
  pool.trim();
  EXPECT_EQ(pool.usage().cached, 0u);
  EXPECT_EQ(pool.usage().high_water, 5 * kMiB);
  EXPECT_TRUE(pool.try_acquire(4 * kMiB, Use::kOutput));
}

TEST(HostPool, DoesNotGrowOverCyclesOfRandomSizes) {
  HostPool pool;
  std::mt19937 random(3);
  std::deque<std::shared_ptr<Buffer>> open;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    for (int i = 0; i < 8; ++i) open.push_back(pool.try_acquire(1 + random() % kMiB, Use::kOutput));
    while (open.size() > 24) open.pop_front();
    const Usage u = pool.usage();
    ASSERT_LE(u.in_use + u.cached, u.high_water + u.high_water / 4);
  }
  const Usage u = pool.usage();
  EXPECT_LE(u.high_water, 40 * (kMiB + kMiB / 4));
  EXPECT_LE(u.high_water_held, u.high_water + u.high_water / 4);
}

TEST(HostPool, TellsTheOwnerWhenThereIsRoom) {
  HostPool pool(kMiB);
  int calls = 0;
  std::shared_ptr<Buffer> waiting;
  pool.on_release([&] {
    ++calls;
    if (!waiting) waiting = pool.try_acquire(kMiB, Use::kOutput);
  });
  auto a = pool.try_acquire(kMiB, Use::kOutput);
  EXPECT_EQ(pool.try_acquire(kMiB, Use::kOutput), nullptr);
  EXPECT_EQ(calls, 0);
  a.reset();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(waiting);
  pool.on_release(nullptr);
  waiting.reset();
  EXPECT_EQ(calls, 1);
}

TEST(HostPool, BuffersOutliveThePool) {
  std::shared_ptr<Buffer> b;
  int calls = 0;
  {
    HostPool pool;
    pool.on_release([&] { ++calls; });
    b = pool.try_acquire(1000, Use::kHeld);
  }
  std::memset(b->data(), 1, 1000);
  b.reset();
  EXPECT_EQ(calls, 0);
}

TEST(HostPool, PoisonsWhatWasLetGo) {
  if (!kPoisons) GTEST_SKIP() << "only AddressSanitizer sees poison";
  HostPool pool;
  auto b = pool.try_acquire(1000, Use::kOutput);
  std::byte* p = b->data();
  EXPECT_FALSE(is_poisoned(p));
  b.reset();
  EXPECT_TRUE(is_poisoned(p));
  EXPECT_TRUE(is_poisoned(p + 999));
}

TEST(HostPool, ThreadsShareOneBudget) {
  HostPool pool(8 * kMiB);
  std::atomic<int64_t> granted = 0, refused = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::deque<std::shared_ptr<Buffer>> open;
      for (int i = 0; i < 3000; ++i) {
        auto b = pool.try_acquire(1 + random() % kMiB, Use::kOutput);
        if (b) {
          b->data()[0] = b->data()[b->size() - 1] = std::byte(t);
          pool.set_use(*b, Use::kHeld);
          open.push_back(std::move(b));
          ++granted;
        } else {
          ++refused;
        }
        if (open.size() > 6 || (!open.empty() && random() % 2)) {
          EXPECT_EQ(open.front()->data()[0], std::byte(t));
          open.pop_front();
        }
        if (i % 500 == 0) pool.trim();
      }
    });
  for (auto& t : threads) t.join();
  const Usage u = pool.usage();
  EXPECT_EQ(granted + refused, 12000);
  EXPECT_GT(granted, 0);
  EXPECT_EQ(u.in_use, 0u);
  EXPECT_LE(u.high_water_held, u.limit);
}

// After on_release() returns, what the former callback used may be destroyed.
TEST(HostPool, DetachingWaitsForTheCallback) {
  HostPool pool;
  std::atomic<bool> stop = false;
  std::thread churn([&] {
    while (!stop) pool.try_acquire(1000, Use::kOutput);
  });
  int64_t calls = 0;
  for (int i = 0; i < 200; ++i) {
    auto counter = std::make_unique<std::atomic<int64_t>>(0);
    pool.on_release([c = counter.get()] { ++*c; });
    while (*counter == 0) std::this_thread::yield();
    pool.on_release(nullptr);
    calls += *counter;
  }
  stop = true;
  churn.join();
  EXPECT_GE(calls, 200);
}

// Forks during another thread's calls: the child's pool may stay locked forever.
TEST(HostPool, AForkedChildLetsGoWithoutTheLock) {
  auto pool = std::make_unique<HostPool>();
  auto buffer = pool->try_acquire(kMiB, Use::kHeld);
  std::atomic<bool> ends = false;
  std::thread busy([&] {
    while (!ends) pool->try_acquire(64, Use::kOutput).reset();
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      buffer.reset();
      pool.reset();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ends = true;
  busy.join();
}

TEST(HostPool, ChargesCountAndTellWhenTheyGo) {
  HostPool pool(1000);
  int releases = 0;
  pool.on_release([&] { ++releases; });
  (void)pool.try_acquire(500, Use::kOutput);
  EXPECT_GT(pool.usage().cached, 400u);
  auto charge = pool.try_charge(700, Use::kOutput);
  EXPECT_EQ(pool.usage().in_use, 700u);
  EXPECT_LE(pool.usage().cached, 300u);
  EXPECT_EQ(pool.usage().high_water_held, 700u);
  EXPECT_EQ(pool.try_charge(301, Use::kHeld), nullptr);
  EXPECT_EQ(pool.try_acquire(400, Use::kOutput), nullptr);
  releases = 0;
  charge.reset();
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(pool.usage().in_use, 0u);
  EXPECT_EQ(pool.usage().buffers[0], 0);
  pool.on_release(nullptr);
}

TEST(HostPool, WhatWasReadIsOutsideOfTheLimitUntilItIsKept) {
  HostPool pool(kMiB), other;
  int releases = 0;
  pool.on_release([&] { ++releases; });
  auto a = pool.try_acquire(kMiB, Use::kRead), b = pool.try_acquire(kMiB, Use::kRead);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(pool.usage().in_use, 0u);
  EXPECT_EQ(pool.usage().of(Use::kRead), 2 * kMiB);
  EXPECT_FALSE(other.try_keep(*a));
  EXPECT_TRUE(pool.try_keep(*a));
  EXPECT_FALSE(pool.try_keep(*a)) << "twice";
  EXPECT_FALSE(pool.try_keep(*b)) << "beyond the limit";
  EXPECT_EQ(pool.usage().of(Use::kOutput), kMiB);
  EXPECT_EQ(pool.usage().in_use, kMiB);
  const std::byte* const where = a->data();
  b.reset();
  EXPECT_EQ(releases, 0) << "no room has become free";
  a.reset();
  EXPECT_EQ(releases, 1);
  EXPECT_LE(pool.usage().cached, kMiB);
  EXPECT_EQ(pool.try_acquire(kMiB, Use::kRead)->data(), where) << "one cache serves both";
  pool.on_release(nullptr);
}

TEST(HostPool, TakesOverABufferOfAnother) {
  HostPool maker(kMiB), taker(4 * kMiB);
  int made_room = 0;
  maker.on_release([&] { ++made_room; });
  auto buffer = maker.try_acquire(kMiB, Use::kFed);
  std::byte* const where = buffer->data();
  EXPECT_THROW(taker.take_over(*buffer, maker.try_charge(0, Use::kFed)), Error);
  EXPECT_THROW(taker.take_over(*buffer, taker.try_charge(kMiB - 1, Use::kOutput)), Error);
  made_room = 0;
  taker.take_over(*buffer, taker.try_charge(kMiB, Use::kOutput));
  EXPECT_EQ(made_room, 1);
  EXPECT_EQ(maker.usage().in_use, 0u);
  EXPECT_EQ(taker.usage().of(Use::kOutput), kMiB);
  EXPECT_EQ(buffer->data(), where);
  taker.set_use(*buffer, Use::kHeld);
  taker.take_over(*buffer, taker.try_charge(kMiB, Use::kOutput));  // once more changes nothing
  EXPECT_EQ(taker.usage().of(Use::kOutput), kMiB);
  EXPECT_EQ(taker.usage().in_use, kMiB);
  auto next = maker.try_acquire(kMiB, Use::kFed);
  ASSERT_TRUE(next);
  buffer.reset();
  EXPECT_EQ(taker.usage().in_use, 0u);
  EXPECT_EQ(taker.usage().cached, 0u);
  EXPECT_LE(maker.usage().high_water_held, kMiB) << "in use and cached are within its limit";
  next.reset();
  EXPECT_EQ(maker.usage().cached, kMiB);
  maker.on_release(nullptr);
}

TEST(HostPool, TakenBuffersGoHome) {
  HostPool maker(4 * kMiB), taker(4 * kMiB);
  auto buffer = maker.try_acquire(kMiB, Use::kFed);
  std::byte* const where = buffer->data();
  taker.take_over(*buffer, taker.try_charge(kMiB, Use::kOutput));
  buffer.reset();
  EXPECT_EQ(maker.usage().cached, kMiB);
  EXPECT_EQ(maker.try_acquire(kMiB, Use::kFed)->data(), where);
}

TEST(HostPool, TakenBuffersOutliveBothPools) {
  auto maker = std::make_unique<HostPool>(), taker = std::make_unique<HostPool>();
  auto a = maker->try_acquire(1000, Use::kFed), b = maker->try_acquire(1000, Use::kFed);
  for (auto* buffer : {&a, &b})
    taker->take_over(**buffer, taker->try_charge(size_class(1000), Use::kOutput));
  maker.reset();
  std::memset(a->data(), 1, 1000);
  a.reset();
  EXPECT_EQ(taker->usage().in_use, size_class(1000));
  taker.reset();
  std::memset(b->data(), 1, 1000);
}

}  // namespace
}  // namespace stoker
