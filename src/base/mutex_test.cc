// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <thread>

namespace stoker {
namespace {

static_assert(sizeof(Mutex) == sizeof(std::mutex));
static_assert(sizeof(ConditionVariable) == sizeof(std::condition_variable));

// Asked by a thread of its own, as no thread may try a mutex that it holds.
bool is_held(Mutex& mutex) {
  auto& native = reinterpret_cast<std::mutex&>(mutex);
  return std::async(std::launch::async,
                    [&] {
                      if (!native.try_lock()) return true;
                      native.unlock();
                      return false;
                    })
      .get();
}

[[noreturn]] bool fail() { throw std::runtime_error("failed"); }

TEST(MutexLock, HoldsTheMutexButBetweenUnlockAndLock) {
  Mutex mutex;
  {
    MutexLock lock(mutex);
    EXPECT_TRUE(is_held(mutex));
    lock.unlock();
    EXPECT_FALSE(is_held(mutex));
    lock.lock();
    EXPECT_TRUE(is_held(mutex));
  }
  EXPECT_FALSE(is_held(mutex));
}

TEST(MutexLock, EndsUnlockedToo) {
  Mutex mutex;
  {
    MutexLock lock(mutex);
    lock.unlock();
  }
  EXPECT_FALSE(is_held(mutex));
}

TEST(MutexUnlock, ReleasesTheMutexUntilAnExceptionPasses) {
  Mutex mutex;
  MutexLock lock(mutex);
  const auto fail_without = [&]() STOKER_REQUIRES(mutex) {
    MutexUnlock unlock(mutex);
    EXPECT_FALSE(is_held(mutex));
    fail();
  };
  EXPECT_THROW(fail_without(), std::runtime_error);
  EXPECT_TRUE(is_held(mutex));
}

TEST(ConditionVariable, TheMutexIsHeldHoweverAWaitEnds) {
  Mutex mutex;
  ConditionVariable never;
  MutexLock lock(mutex);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(never.wait_for(mutex, std::chrono::milliseconds(1)), std::cv_status::timeout);
  EXPECT_TRUE(is_held(mutex));
  EXPECT_FALSE(never.wait_for(mutex, std::chrono::milliseconds(1), [] { return false; }));
  EXPECT_TRUE(is_held(mutex));
  EXPECT_FALSE(never.wait_until(mutex, now, [] { return false; }));
  EXPECT_TRUE(is_held(mutex));
  EXPECT_THROW(never.wait(mutex, fail), std::runtime_error);
  EXPECT_TRUE(is_held(mutex));
}

struct Baton {
  Mutex mutex;
  ConditionVariable passed;
  int holder STOKER_GUARDED_BY(mutex) = 0;

  void pass_on(int from, int to) {
    MutexLock lock(mutex);
    while (holder != from) passed.wait(mutex);
    holder = to;
    passed.notify_all();
    passed.wait(mutex, [&]() STOKER_REQUIRES(mutex) { return holder != to; });
  }
};

TEST(ConditionVariable, WaitsReleaseTheMutex) {
  Baton baton;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) baton.pass_on(1, 0);
  });
  for (int i = 0; i < 100; ++i) baton.pass_on(0, 1);
  {
    MutexLock lock(baton.mutex);
    EXPECT_EQ(baton.holder, 0);
    baton.holder = 2;  // ends the last wait
    baton.passed.notify_all();
  }
  other.join();
}

}  // namespace
}  // namespace stoker
