// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "memory/poison.h"

namespace stoker {

// Reverses the values within each block: right only if all have written `shared` before any reads
// it.
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

// Writes down in which order it was run.
struct NoteOrder {
  static constexpr int kPhases = 2;
  int* order;
  std::atomic<int>* next;

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte*) const {
    order[(*next)++] = static_cast<int>(phase * 1000000 + block * threads + thread);
  }
};

struct AddOne {
  static constexpr int kPhases = 1;
  int* data;

  STOKER_HD void run(int, int64_t block, int thread, int threads, std::byte*) const {
    ++data[block * threads + thread];
  }
};

struct ThrowAt {
  static constexpr int kPhases = 1;
  int64_t block;

  STOKER_HD void run(int, int64_t b, int, int, std::byte*) const {
    if (b == block) throw std::runtime_error("block " + std::to_string(b));
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

template <class F>
std::string device_error(F f) {
  try {
    f();
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "no error";
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

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
    // One block after the other, its first phase before its second.
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
  device.fail(Work::kLaunch, 1);
  stream->launch(AddOne{nullptr}, {0, 128}, "empty");
  stream->launch(AddOne{nullptr}, {128, 0}, "empty");
  stream->synchronize();
  EXPECT_TRUE(device.timeline().empty());
  for (Grid grid : {Grid{1, 1025}, Grid{-1, 1}, Grid{1, -1}, Grid{int64_t{1} << 31, 1},
                    Grid{1, 1, kMaxShared + 1}})
    EXPECT_TRUE(
        has(device_error([&] { stream->launch(AddOne{nullptr}, grid, "big"); }), "launch 'big'"));
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
    return device_error([&] { stream->copy(to, from, n, direction, "x"); });
  };
  EXPECT_EQ(copy(memory->data() + 60, host, 41, Copy::kToDevice),
            "simulated:0: copy 'x' of 41 bytes to the device on stream 's': it reaches 1 byte "
            "beyond the end of an "
            "allocation of 100 bytes");
  EXPECT_EQ(copy(memory->data() + 60, host, 40, Copy::kToDevice), "no error");
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
  EXPECT_TRUE(has(device_error([&] { stream->free(p + 1); }), "not the begin of an allocation"));
  stream->free(p);
  EXPECT_TRUE(has(device_error([&] { stream->free(p); }), "freed before"));
  EXPECT_TRUE(
      has(device_error([&] { stream->copy(p, host, 1, Copy::kToDevice, "x"); }), "freed before"));
  EXPECT_TRUE(has(device_error([&] { stream->free(host); }), "not the begin of an allocation"));
}

TEST(SimulatedDevice, UseOnAnotherStreamNeedsAnEvent) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b"), c = device.make_stream("c");
  auto event = device.make_event(), second = device.make_event();
  std::byte host[64] = {}, out[64] = {};
  auto* p = static_cast<std::byte*>(a->allocate(64));
  const auto read_on = [&](Stream& s) {
    return device_error([&] { s.copy(out, p, 64, Copy::kToHost, "out"); });
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
  EXPECT_EQ(read_on(*b), "no error");
  b->record(*second);
  c->wait(*second);  // orders c behind a through b
  EXPECT_EQ(read_on(*c), "no error");
  EXPECT_TRUE(has(device_error([&] { a->copy(p, host, 1, Copy::kToDevice, "in"); }),
                  "behind simulated:0: copy 'out'"));
  EXPECT_TRUE(has(device_error([&] { a->free(p); }), "behind simulated:0: copy 'out'"));
  c->synchronize();  // the host orders too
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

TEST(SimulatedDevice, ABufferFreedTooEarlyIsReported) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  std::byte host[8] = {};
  auto p = a->try_acquire(8);
  a->synchronize();
  b->copy(p->data(), host, 8, Copy::kToDevice, "late");
  p.reset();
  EXPECT_TRUE(has(device_error([&] { device.check(); }),
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

// Each stream's call ends only when the other's runs: they do overlap, and an event does order.
TEST(SimulatedDevice, StreamsOverlapAndOrderByEventsOnly) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  auto event = device.make_event();
  EXPECT_TRUE(event->query());
  std::promise<void> in_a, in_b;
  std::vector<int> order;
  a->call(
      [&] {
        in_a.set_value(), in_b.get_future().wait();
        order.push_back(1);
      },
      0, "a");
  a->record(*event);
  EXPECT_FALSE(event->query());
  b->call([&] { in_a.get_future().wait(); }, 0, "b");
  EXPECT_FALSE(event->query());
  b->call([&] { in_b.set_value(); }, 0, "b");
  b->wait(*event);
  b->call([&] { order.push_back(2); }, 0, "b");
  b->synchronize();
  EXPECT_TRUE(event->query());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(SimulatedDevice, AWaitMeansWhatTheEventStoodForThen) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  auto event = device.make_event();
  std::promise<void> go;
  a->record(*event);
  b->wait(*event);
  a->call([&] { go.get_future().wait(); }, 0, "held up");
  a->record(*event);
  b->synchronize();  // would hang if b waited for the second record
  EXPECT_FALSE(event->query());
  go.set_value();
  event->synchronize();
  EXPECT_TRUE(event->query());
}

TEST(SimulatedDevice, RefusesEventsOfAnotherDevice) {
  SimulatedDevice one, two({}, 1);
  auto stream = one.make_stream("s");
  auto event = two.make_event();
  EXPECT_THROW(stream->record(*event), DeviceError);
  EXPECT_THROW(stream->wait(*event), DeviceError);
}

TEST(SimulatedDevice, AFailureIsThrownOnceAtTheNextSynchronisation) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  int ran = 0;
  a->launch(ThrowAt{3}, {5, 1}, "thrower");
  a->call([&] { ++ran; }, 0, "next");
  EXPECT_EQ(device_error([&] { a->synchronize(); }),
            "simulated:0: launch 'thrower' on stream 'a' failed: block 3");
  EXPECT_EQ(ran, 1);
  a->synchronize();
  device.check();
  auto event = device.make_event();
  a->call([] { throw 7; }, 0, "odd");
  a->record(*event);
  b->wait(*event);
  b->call([] { throw std::runtime_error("second"); }, 0, "then");
  auto later = device.make_event();
  b->record(*later);
  EXPECT_EQ(
      device_error([&] { later->synchronize(); }),
      "simulated:0: call 'odd' on stream 'a' failed: an unknown exception (and 1 more after it)");
  EXPECT_TRUE(event->query());
}

TEST(SimulatedDevice, CheckThrowsWithoutWaiting) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  auto failed = device.make_event();
  std::promise<void> go;
  b->call([&] { go.get_future().wait(); }, 0, "long");
  a->call([] { throw std::runtime_error("bad"); }, 0, "short");
  a->record(*failed);
  while (!failed->query()) std::this_thread::yield();
  EXPECT_TRUE(has(device_error([&] { device.check(); }), "call 'short'"));
  go.set_value();
  b->synchronize();  // its call looks at go
}

TEST(SimulatedDevice, InjectedFaultsHitTheNthWork) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  device.fail(Work::kAllocate, 2);
  device.fail(Work::kCopy, 2);
  device.fail(Work::kLaunch, 1);
  auto p = stream->try_acquire(4);
  EXPECT_TRUE(has(device_error([&] { stream->try_acquire(4); }),
                  "allocation of 4 bytes on stream 's' failed"));
  EXPECT_EQ(device.usage().in_use, 4u);
  int one = 1, out = 0;
  stream->copy(p->data(), &one, 4, Copy::kToDevice, "first");
  stream->copy(&out, p->data(), 4, Copy::kToHost, "second");
  EXPECT_TRUE(has(device_error([&] { stream->synchronize(); }), "copy 'second'"));
  EXPECT_EQ(out, 0);
  stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {1, 1}, "first launch");
  EXPECT_TRUE(has(device_error([&] { stream->synchronize(); }), "launch 'first launch'"));
  stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {1, 1}, "next launch");
  stream->copy(&out, p->data(), 4, Copy::kToHost, "third");
  stream->synchronize();
  EXPECT_EQ(out, 2);
  EXPECT_TRUE(stream->try_acquire(4));
}

const TimelineEntry& entry(const std::vector<TimelineEntry>& all, const std::string& name) {
  for (const TimelineEntry& e : all)
    if (e.name == name) return e;
  throw std::out_of_range(name);
}

TEST(SimulatedDevice, VirtualClockShowsOverlap) {
  SimulatedDevice device({.link_bytes_per_ns = 2});
  auto copies = device.make_stream("copies"), kernels = device.make_stream("kernels");
  auto copied = device.make_event();
  int host[50] = {};
  auto p = copies->try_acquire(200), q = copies->try_acquire(200);
  device.add_host_work("read", 10);
  copies->copy(p->data(), host, 200, Copy::kToDevice, "copy 0");
  copies->record(*copied);
  kernels->wait(*copied);
  kernels->launch(AddOne{reinterpret_cast<int*>(p->data())}, {50, 1, 0, 300}, "kernel 0");
  copies->copy(q->data(), host, 200, Copy::kToDevice, "copy 1");
  copies->record(*copied);
  kernels->wait(*copied);
  kernels->launch(AddOne{reinterpret_cast<int*>(q->data())}, {50, 1, 0, 300}, "kernel 1");
  const auto all = device.timeline();
  const auto spans = [&](const std::string& name) {
    return std::pair(entry(all, name).start_ns, entry(all, name).end_ns);
  };
  EXPECT_EQ(spans("read"), std::pair(int64_t{0}, int64_t{10}));
  EXPECT_EQ(spans("copy 0"), std::pair(int64_t{10}, int64_t{110}));
  EXPECT_EQ(spans("kernel 0"), std::pair(int64_t{110}, int64_t{410}));
  EXPECT_EQ(spans("copy 1"), std::pair(int64_t{110}, int64_t{210}));  // beside kernel 0
  EXPECT_EQ(spans("kernel 1"), std::pair(int64_t{410}, int64_t{710}));
  EXPECT_EQ(entry(all, "kernel 1").stream, "kernels");
  EXPECT_EQ(entry(all, "read").stream, "host");
  EXPECT_EQ(device.virtual_now(), 710);
  EXPECT_EQ(device.host_now(), 10);
  copied->synchronize();
  EXPECT_EQ(device.host_now(), 210);
  kernels->synchronize();
  EXPECT_EQ(device.host_now(), 710);
}

TEST(SimulatedDevice, DelaysMoveTheVirtualClock) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  device.delay(Work::kLaunch, 2, 1000, std::chrono::microseconds(50));
  int x = 0;
  for (int i = 0; i < 3; ++i) stream->launch(AddOne{&x}, {1, 1, 0, 10}, "add");
  EXPECT_EQ(device.virtual_now(), 1030);
  device.delay(Work::kAllocate, 1, 70, std::chrono::microseconds(50));
  auto p = stream->try_acquire(1);
  stream->synchronize();
  EXPECT_EQ(device.host_now(), 1100);
  EXPECT_EQ(x, 3);
}

TEST(SimulatedDevice, TimelineForgets) {
  SimulatedDevice device({.timeline_limit = 3});
  auto stream = device.make_stream("s");
  for (int i = 0; i < 10; ++i) stream->call({}, 1, std::to_string(i));
  stream->synchronize();
  ASSERT_EQ(device.timeline().size(), 3u);
  EXPECT_EQ(device.timeline()[0].name, "7");
}

TEST(SimulatedDevice, DestroyingAStreamFinishesItsWork) {
  SimulatedDevice device;
  std::atomic<int> ran = 0;
  {
    auto a = device.make_stream("a"), b = device.make_stream("b");
    auto event = device.make_event();
    for (int i = 0; i < 100; ++i) {
      a->call([&] { ++ran; }, 0, "a");
      a->record(*event);
      b->wait(*event);
      b->call([&] { ++ran; }, 0, "b");
    }
  }
  EXPECT_EQ(ran, 200);
}

// Iterations over three streams, with faults and delays: for hangs, and for ThreadSanitizer.
TEST(SimulatedDevice, ManyIterationsWithFaultsEnd) {
  constexpr int kDepth = 3, kIterations = 150, kInts = 256;
  struct Slot {
    std::unique_ptr<Stream> stream;
    std::unique_ptr<Event> done;
    std::vector<int> in, out;
    int iteration = -1;
  };
  SimulatedDevice device;
  std::vector<Slot> slots;
  for (int k = 0; k < kDepth; ++k)
    slots.push_back({device.make_stream("slot " + std::to_string(k)), device.make_event(),
                     std::vector<int>(kInts), std::vector<int>(kInts)});
  const auto is_faulty = [](int i) { return i % 20 == 7; };
  int failures = 0;
  const auto hand_out = [&](Slot& s) {
    try {
      s.done->synchronize();
    } catch (const DeviceError&) {
      ++failures;
    }
    if (s.iteration >= 0 && !is_faulty(s.iteration)) {
      EXPECT_EQ(s.out, std::vector<int>(kInts, s.iteration + 1));
    }
  };
  for (int i = 0; i < kIterations; ++i) {
    Slot& s = slots[i % kDepth];
    hand_out(s);
    s.iteration = i;
    if (is_faulty(i)) device.fail(i % 40 == 7 ? Work::kCopy : Work::kLaunch, 1);
    if (i % 5 == 0) device.delay(Work::kLaunch, 1, 10, std::chrono::microseconds(100));
    std::fill(s.in.begin(), s.in.end(), i);
    auto p = s.stream->try_acquire(kInts * 4);
    s.stream->copy(p->data(), s.in.data(), kInts * 4, Copy::kToDevice, "in");
    s.stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {2, kInts / 2}, "add");
    s.stream->copy(s.out.data(), p->data(), kInts * 4, Copy::kToHost, "out");
    s.stream->record(*s.done);
  }
  for (Slot& s : slots) hand_out(s);
  EXPECT_EQ(failures, 8);  // one for each fault: it is heard of before the next one comes
  EXPECT_EQ(device.usage().in_use, 0u);
}

}  // namespace
}  // namespace stoker
