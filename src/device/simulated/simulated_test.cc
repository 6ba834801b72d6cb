// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Programs and memory.
#include "device/simulated/simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "device/simulated/testing.h"
#include "memory/poison.h"

namespace stoker {

// Reverses the values of each block, provided all threads write `shared` before any reads it.
struct ReverseInBlocks {
  static constexpr int kPhases = 2;
  int* data;

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const {
    int* s = reinterpret_cast<int*>(shared);
    int* d = data + block * threads;
    if (phase == 0) s[thread] = d[thread];
    else d[thread] = s[threads - 1 - thread];
  }
};

struct NoteOrder {
  static constexpr int kPhases = 2;
  int* order;
  std::atomic<int>* next;

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte*) const {
    order[(*next)++] = static_cast<int>(phase * 1000000 + block * threads + thread);
  }
};

struct SharedIsFresh {
  static constexpr int kPhases = 1;
  bool* result;
  size_t bytes;

  STOKER_HD void run(int, int64_t block, int, int, std::byte* shared) const {
    result[block] = std::all_of(shared, shared + bytes,
                                [](std::byte b) { return b == SimulatedDevice::kFresh; });
    std::memset(shared, 0, bytes);
  }
};

namespace {

TEST(SimulatedDevice, CopiesThereThroughAndBack) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  std::vector<int> in(1000), out(1000);
  std::iota(in.begin(), in.end(), 0);
  auto a = stream->try_acquire(4000), b = stream->try_acquire(4000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data()) % 256, 0u);
  stream->copy(a->data(), in.data(), 4000, Copy::kToDevice, "in");
  stream->copy(b->data(), a->data(), 4000, Copy::kOnDevice, "through");
  stream->copy(out.data(), b->data(), 4000, Copy::kToHost, "out");
  stream->copy(nullptr, nullptr, 0, Copy::kToHost, "nothing");
  stream->synchronize();
  EXPECT_EQ(in, out);
}

TEST(SimulatedDevice, PhasesMeetAndSharedMemoryIsPerBlock) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  constexpr int kBlocks = 37, kThreads = 96;
  std::vector<int> v(kBlocks * kThreads);
  std::iota(v.begin(), v.end(), 0);
  auto memory = stream->try_acquire(v.size() * 4);
  stream->copy(memory->data(), v.data(), v.size() * 4, Copy::kToDevice, "in");
  stream->launch(ReverseInBlocks{reinterpret_cast<int*>(memory->data())},
                 {kBlocks, kThreads, kThreads * 4}, "reverse");
  stream->copy(v.data(), memory->data(), v.size() * 4, Copy::kToHost, "out");
  stream->synchronize();
  for (int b = 0; b < kBlocks; ++b)
    for (int t = 0; t < kThreads; ++t)
      ASSERT_EQ(v[b * kThreads + t], b * kThreads + kThreads - 1 - t);
}

std::vector<int> order_of_run(uint64_t seed, int64_t blocks, int threads) {
  SimulatedDevice device({.seed = seed});
  auto stream = device.make_stream("s");
  std::vector<int> order(2 * blocks * threads);
  std::atomic<int> next = 0;
  stream->launch(NoteOrder{order.data(), &next}, {blocks, threads}, "note");
  stream->synchronize();
  EXPECT_EQ(next, 2 * blocks * threads);
  return order;
}

TEST(SimulatedDevice, RunsEveryThreadOnceInAnOrderThatTheSeedShuffles) {
  for (int64_t blocks : {1, 2, 12, 31}) {
    std::vector<int> order = order_of_run(5, blocks, 32);
    EXPECT_EQ(order, order_of_run(5, blocks, 32));
    EXPECT_NE(order, order_of_run(6, blocks, 32));
    EXPECT_FALSE(std::is_sorted(order.begin(), order.begin() + 32));
    std::vector<int> seen = order;
    std::sort(seen.begin(), seen.end());
    for (int phase = 0; phase < 2; ++phase)
      for (int i = 0; i < 32 * blocks; ++i)
        ASSERT_EQ(seen[phase * 32 * blocks + i], phase * 1000000 + i);
    // Blocks run one after the other, and in each the first phase runs before the second.
    for (size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(order[i] / 1000000, static_cast<int>(i / 32 % 2));
  }
}

TEST(SimulatedDevice, SharedMemoryIsFreshInEachBlock) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  bool fresh[9] = {};
  stream->launch(SharedIsFresh{fresh, 1000}, {9, 1, 1000}, "look");
  stream->synchronize();
  EXPECT_TRUE(std::all_of(fresh, fresh + 9, [](bool b) { return b; }));
}

TEST(SimulatedDevice, AnEmptyGridIsNothingAndAnImpossibleOneAnError) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  device.fail(DeviceCall::kLaunch, 1);
  stream->launch(AddOne{nullptr}, {0, 128}, "empty");
  stream->launch(AddOne{nullptr}, {128, 0}, "empty");
  stream->synchronize();
  EXPECT_TRUE(device.timeline().empty());
  for (Grid grid : {Grid{1, 1025}, Grid{-1, 1}, Grid{1, -1}, Grid{int64_t{1} << 31, 1},
                    Grid{1, 1, kMaxShared + 1}})
    EXPECT_TRUE(has(message<DeviceError>([&] { stream->launch(AddOne{nullptr}, grid, "big"); }),
                    "launch 'big'"));
}

TEST(SimulatedDevice, MemoryIsPoisonedWhenFreshAndWhenFreed) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  auto* p = static_cast<std::byte*>(stream->allocate(100));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(p[i], SimulatedDevice::kFresh);
  stream->free(p);
  stream->synchronize();
  EXPECT_EQ(is_poisoned(p), kPoisons);
  EXPECT_EQ(is_poisoned(p + 99), kPoisons);
  unpoison(p, 100);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(p[i], SimulatedDevice::kFreed);
  poison(p, 100);
}

TEST(SimulatedDevice, MemoryHasALimitAndAHighWaterMark) {
  SimulatedDevice device({.memory_limit = 1000});
  auto stream = device.make_stream("s");
  auto a = stream->try_acquire(600);
  EXPECT_EQ(stream->try_acquire(401), nullptr);
  auto b = stream->try_acquire(400);
  ASSERT_TRUE(b);
  EXPECT_EQ(device.usage().in_use, 1000u);
  EXPECT_EQ(device.usage().allocations, 2);
  try {
    stream->allocate(1);
    FAIL() << "over the limit";
  } catch (const BudgetError& e) {
    EXPECT_STREQ(e.what(),
                 "simulated:0: no room for 1 bytes on stream 's': 1000 of 1000 bytes are in use, "
                 "in 2 allocations");
  }
  a.reset();
  EXPECT_EQ(device.usage().in_use, 400u);
  stream->free(stream->allocate(600));
  stream->free(stream->allocate(0));
  stream->free(nullptr);
  EXPECT_EQ(device.usage().high_water, 1000u);
  EXPECT_EQ(device.usage().allocations, 1);
}

TEST(SimulatedDevice, MemoryDoesNotGrow) {
  SimulatedDevice device({.memory_limit = 4 << 20});
  auto stream = device.make_stream("s");
  for (int i = 0; i < 500; ++i) {
    auto a = stream->try_acquire(1 << 20), b = stream->try_acquire(100 + i);
    ASSERT_TRUE(a && b);
  }
  stream->synchronize();
  EXPECT_EQ(device.usage().in_use, 0u);
  EXPECT_LE(device.usage().high_water, size_t{(1 << 20) + 600});
}

TEST(SimulatedDevice, CopiesAreChecked) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  auto memory = stream->try_acquire(100), other = stream->try_acquire(100);
  std::byte host[200] = {};
  const auto copy = [&](void* to, const void* from, size_t n, Copy direction) {
    return message<DeviceError>([&] { stream->copy(to, from, n, direction, "x"); });
  };
  EXPECT_EQ(copy(memory->data() + 60, host, 41, Copy::kToDevice),
            "simulated:0: copy 'x' of 41 bytes to the device on stream 's': it reaches 1 byte "
            "beyond the end of an "
            "allocation of 100 bytes");
  EXPECT_EQ(copy(memory->data() + 60, host, 40, Copy::kToDevice), "nothing was thrown");
  EXPECT_TRUE(has(copy(host, memory->data(), 101, Copy::kToHost), "1 byte beyond"));
  EXPECT_TRUE(has(copy(memory->data(), other->data(), 101, Copy::kOnDevice), "1 byte beyond"));
  EXPECT_TRUE(has(copy(host, host + 100, 10, Copy::kToDevice), "not memory of this device"));
  EXPECT_TRUE(
      has(copy(memory->data(), other->data(), 10, Copy::kToDevice), "host side is device memory"));
  EXPECT_TRUE(
      has(copy(memory->data(), other->data(), 10, Copy::kToHost), "host side is device memory"));
  EXPECT_TRUE(has(copy(memory->data(), host, 10, Copy::kOnDevice), "not memory of this device"));
  stream->synchronize();
}

TEST(SimulatedDevice, UseAfterFreeAndDoubleFreeAreFound) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  auto* p = static_cast<std::byte*>(stream->allocate(100));
  std::byte host[100] = {};
  EXPECT_TRUE(
      has(message<DeviceError>([&] { stream->free(p + 1); }), "not the begin of an allocation"));
  stream->free(p);
  EXPECT_TRUE(has(message<DeviceError>([&] { stream->free(p); }), "freed before"));
  EXPECT_TRUE(has(message<DeviceError>([&] { stream->copy(p, host, 1, Copy::kToDevice, "x"); }),
                  "freed before"));
  EXPECT_TRUE(
      has(message<DeviceError>([&] { stream->free(host); }), "not the begin of an allocation"));
}

TEST(SimulatedDevice, UseOnAnotherStreamNeedsAnEvent) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b"), c = device.make_stream("c");
  auto event = device.make_event(), second = device.make_event();
  std::byte host[64] = {}, out[64] = {};
  auto* p = static_cast<std::byte*>(a->allocate(64));
  const auto read_on = [&](Stream& s) {
    return message<DeviceError>([&] { s.copy(out, p, 64, Copy::kToHost, "out"); });
  };
  EXPECT_TRUE(has(read_on(*b),
                  "no event orders this behind simulated:0: allocation of 64 bytes on stream 'a'"));
  a->record(*event);
  b->wait(*event);
  a->copy(p, host, 64, Copy::kToDevice, "in");
  EXPECT_TRUE(
      has(read_on(*b), "behind simulated:0: copy 'in'"));  // the event was recorded before the copy
  a->record(*event);
  b->wait(*event);
  EXPECT_EQ(read_on(*b), "nothing was thrown");
  b->record(*second);
  c->wait(*second);  // orders c behind a through b
  EXPECT_EQ(read_on(*c), "nothing was thrown");
  EXPECT_TRUE(has(message<DeviceError>([&] { a->copy(p, host, 1, Copy::kToDevice, "in"); }),
                  "behind simulated:0: copy 'out'"));
  EXPECT_TRUE(has(message<DeviceError>([&] { a->free(p); }), "behind simulated:0: copy 'out'"));
  c->synchronize();  // a wait of the host is an order as well
  a->free(p);
  a->synchronize();
}

TEST(SimulatedDevice, DisjointPartsNeedNoOrder) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  auto p = a->try_acquire(128);
  a->synchronize();
  std::byte host[64] = {};
  a->copy(p->data(), host, 64, Copy::kToDevice, "lower");
  b->copy(p->data() + 64, host, 64, Copy::kToDevice, "upper");
  b->synchronize();
}

// The new stream takes over the number of one that is gone, of which others have seen all work.
TEST(SimulatedDevice, UseBehindAStreamThatFollowsAnotherNeedsAnEvent) {
  SimulatedDevice device;
  auto other = device.make_stream("other");
  std::byte host[8] = {};
  auto stream = device.make_stream("first");
  auto p = stream->try_acquire(8);
  stream->copy(p->data(), host, 8, Copy::kToDevice, "first");
  const ForeignStream first = SimulatedDevice::foreign(*stream);
  stream.reset();
  other->copy(host, p->data(), 8, Copy::kToHost, "seen");
  other->synchronize();
  p.reset();

  stream = device.make_stream("second");
  EXPECT_NE(SimulatedDevice::foreign(*stream), first);
  p = stream->try_acquire(8);
  stream->copy(p->data(), host, 8, Copy::kToDevice, "second");
  const auto read = [&] { other->copy(host, p->data(), 8, Copy::kToHost, "unseen"); };
  EXPECT_TRUE(has(message<DeviceError>(read),
                  "no event orders this behind simulated:0: "
                  "allocation of 8 bytes on stream 'second'"));
  stream->synchronize();
  read();
  other->synchronize();
}

TEST(SimulatedDevice, ABufferFreedTooEarlyIsReported) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  std::byte host[8] = {};
  auto p = a->try_acquire(8);
  a->synchronize();
  b->copy(p->data(), host, 8, Copy::kToDevice, "late");
  p.reset();
  EXPECT_TRUE(has(message<DeviceError>([&] { device.check(); }),
                  "free on stream 'a': no event orders this behind"));
  device.check();
}

TEST(SimulatedDevice, BuffersOutliveStreamAndDevice) {
  std::shared_ptr<Buffer> p;
  std::unique_ptr<Event> event;
  {
    SimulatedDevice device;
    auto stream = device.make_stream("s");
    p = stream->try_acquire(100);
    event = device.make_event();
    stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {25, 1}, "add");
    stream->record(*event);
  }
  event->synchronize();
  EXPECT_EQ(p->size(), 100u);
  std::memset(p->data(), 0, 100);
  p.reset();
}

}  // namespace
}  // namespace stoker
