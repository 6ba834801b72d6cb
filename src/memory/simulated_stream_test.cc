// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Streams, events, failures and the virtual clock.
#include "memory/simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "memory/simulated_testing.h"

namespace stoker {

struct ThrowAt {
  static constexpr int kPhases = 1;
  int64_t block;

  STOKER_HD void run(int, int64_t b, int, int, std::byte*) const {
    if (b == block) throw std::runtime_error("block " + std::to_string(b));
  }
};

namespace {

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
