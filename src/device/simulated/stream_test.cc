// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Streams, events, failures and the virtual clock.
#include "device/simulated/simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

#include "device/simulated/testing.h"

namespace stoker {

struct ThrowAt {
  static constexpr int kPhases = 1;
  int64_t block;

  STOKER_HD void run(int, int64_t b, int, int, std::byte*) const {
    if (b == block) throw std::runtime_error("block " + std::to_string(b));
  }
};

namespace {

// Each stream's call ends only when the other's call runs, so the streams overlap.
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
  EXPECT_EQ(message<DeviceError>([&] { a->synchronize(); }),
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
      message<DeviceError>([&] { later->synchronize(); }),
      "simulated:0: call 'odd' on stream 'a' failed: an unknown exception (and 1 more after it)");
  EXPECT_TRUE(event->query());
}

TEST(SimulatedDevice, AFailureIsToldToAllWhoWaitForItAndToNobodyElse) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  auto good = device.make_event(), bad = device.make_event(), next = device.make_event(),
       reader = device.make_event();
  a->record(*good);
  a->call([] { throw std::runtime_error("broken"); }, 0, "work");
  a->record(*bad);
  a->call([] {}, 0, "the next step's");
  a->record(*next);
  b->wait(*bad);
  b->record(*reader);
  next->synchronize();
  good->synchronize();
  for (int times = 0; times < 2; ++times)
    for (Event* event : {bad.get(), reader.get()})
      EXPECT_TRUE(
          has(message<DeviceError>([&] { event->synchronize(); }), "call 'work' on stream 'a'"));
  EXPECT_TRUE(has(message<DeviceError>([&] { bad->check(); }), "call 'work' on stream 'a'"));
  good->check();
  a->synchronize();
  device.check();
}

// The bytes that a failed copy should have brought may be pointers.
TEST(SimulatedDevice, NothingIsDoneWithWhatAFailureLeft) {
  SimulatedDevice device;
  auto a = device.make_stream("a"), b = device.make_stream("b");
  auto event = device.make_event();
  int from_a = 0, from_b = 0, called = 0;
  device.fail(DeviceCall::kLaunch, 1);
  a->launch(AddOne{&from_a}, {1, 1}, "fails");
  a->launch(AddOne{&from_a}, {1, 1}, "reads what that was to write");
  a->call([&] { ++called; }, 0, "release");
  a->record(*event);
  b->wait(*event);
  b->launch(AddOne{&from_b}, {1, 1}, "likewise");
  a->launch(AddOne{&from_a}, {1, 1}, "the next step's");
  EXPECT_TRUE(has(message<DeviceError>([&] { b->synchronize(); }), "launch 'fails'"));
  a->synchronize();
  EXPECT_EQ(from_a, 1);
  EXPECT_EQ(from_b, 0);
  EXPECT_EQ(called, 1);
}

TEST(SimulatedDevice, WhatAStreamDidIsDoneWhenItIsGone) {
  SimulatedDevice device;
  auto a = device.make_stream("a");
  auto p = a->try_acquire(4);
  int value = 7;
  auto filled = device.make_event();
  a->copy(p->data(), &value, 4, Copy::kToDevice, "fill");
  a->record(*filled);
  {
    auto b = device.make_stream("b");
    b->wait(*filled);
    b->copy(&value, p->data(), 4, Copy::kToHost, "read");
  }
  p.reset();
  a->synchronize();
  device.check();
  EXPECT_EQ(device.usage().in_use, 0u);
}

TEST(SimulatedDevice, AFailureThatAnEventKnowsOfIsToldByItsStreamToo) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  auto event = device.make_event();
  stream->call([] { throw std::runtime_error("broken"); }, 0, "work");
  stream->record(*event);
  EXPECT_TRUE(has(message<DeviceError>([&] { stream->synchronize(); }), "call 'work'"));
  stream->synchronize();
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
  EXPECT_TRUE(has(message<DeviceError>([&] { device.check(); }), "call 'short'"));
  go.set_value();
  b->synchronize();  // its call uses go
}

TEST(SimulatedDevice, InjectedFaultsHitTheNthWork) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  device.fail(DeviceCall::kAllocate, 2);
  device.fail(DeviceCall::kCopy, 2);
  device.fail(DeviceCall::kLaunch, 1);
  auto p = stream->try_acquire(4);
  EXPECT_TRUE(has(message<DeviceError>([&] { stream->try_acquire(4); }),
                  "allocation of 4 bytes on stream 's' failed"));
  EXPECT_EQ(device.usage().in_use, 4u);
  int one = 1, out = 0;
  stream->copy(p->data(), &one, 4, Copy::kToDevice, "first");
  stream->copy(&out, p->data(), 4, Copy::kToHost, "second");
  EXPECT_TRUE(has(message<DeviceError>([&] { stream->synchronize(); }), "copy 'second'"));
  EXPECT_EQ(out, 0);
  stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {1, 1}, "first launch");
  EXPECT_TRUE(has(message<DeviceError>([&] { stream->synchronize(); }), "launch 'first launch'"));
  stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {1, 1}, "next launch");
  stream->copy(&out, p->data(), 4, Copy::kToHost, "third");
  stream->synchronize();
  EXPECT_EQ(out, 2);
  EXPECT_TRUE(stream->try_acquire(4));
}

TEST(SimulatedDevice, RefusalsAreAtOnce) {
  SimulatedDevice device;
  auto stream = device.make_stream("s");
  for (DeviceCall what :
       {DeviceCall::kAllocate, DeviceCall::kPin, DeviceCall::kCopy, DeviceCall::kLaunch})
    device.refuse(what, 2);
  auto p = stream->try_acquire(4);
  EXPECT_FALSE(stream->try_acquire(4));
  EXPECT_TRUE(stream->try_acquire(4));
  EXPECT_TRUE(device.try_pin(10));
  EXPECT_FALSE(device.try_pin(10));
  int one = 1, out = 0;
  const auto copy_up = [&] { stream->copy(p->data(), &one, 4, Copy::kToDevice, "up"); };
  const auto add = [&] {
    stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {1, 1}, "add");
  };
  copy_up();
  EXPECT_TRUE(has(message<DeviceError>(copy_up),
                  "copy 'up' of 4 bytes to the device on stream 's' was "
                  "refused"));
  add();
  EXPECT_TRUE(has(message<DeviceError>(add), "launch 'add' on stream 's' was refused"));
  add();
  stream->copy(&out, p->data(), 4, Copy::kToHost, "down");
  stream->synchronize();
  EXPECT_EQ(out, 3);
  device.fail(DeviceCall::kPin, 1);
  EXPECT_TRUE(has(message<DeviceError>([&] { (void)device.try_pin(7); }), "locking 7 bytes"));
  device.fail(DeviceCall::kCopy, 1);
  EXPECT_EQ(device.forget_faults(), 1);
  copy_up();
  stream->synchronize();
}

TEST(SimulatedDevice, DelaysOfAllWorkChangeNoOrderThatEventsMake) {
  for (uint64_t seed = 1; seed < 6; ++seed) {
    SimulatedDevice device;
    device.delay_all(seed, std::chrono::microseconds(200));
    auto a = device.make_stream("a"), b = device.make_stream("b");
    auto event = device.make_event();
    int value = 0;
    for (int i = 0; i < 20; ++i) {
      Stream &first = i % 2 ? *a : *b, &second = i % 2 ? *b : *a;
      first.call([&, i] { EXPECT_EQ(std::exchange(value, i + 1), i); }, 0, "turn");
      first.record(*event);
      second.wait(*event);
    }
    a->synchronize();
    b->synchronize();
    EXPECT_EQ(value, 20);
    EXPECT_EQ(device.virtual_now(), 0);
  }
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
  EXPECT_EQ(spans("copy 1"), std::pair(int64_t{110}, int64_t{210}));  // during kernel 0
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
  device.delay(DeviceCall::kLaunch, 2, 1000, std::chrono::microseconds(50));
  int x = 0;
  for (int i = 0; i < 3; ++i) stream->launch(AddOne{&x}, {1, 1, 0, 10}, "add");
  EXPECT_EQ(device.virtual_now(), 1030);
  device.delay(DeviceCall::kAllocate, 1, 70, std::chrono::microseconds(50));
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

// Iterations over three streams with faults and delays, to find hangs and races (ThreadSanitizer).
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
    if (s.iteration < 0) return;
    const std::string error = message<DeviceError>([&] { s.done->synchronize(); });
    EXPECT_EQ(error != "nothing was thrown", is_faulty(s.iteration)) << s.iteration << error;
    if (!is_faulty(s.iteration)) EXPECT_EQ(s.out, std::vector<int>(kInts, s.iteration + 1));
    else ++failures;
  };
  for (int i = 0; i < kIterations; ++i) {
    Slot& s = slots[i % kDepth];
    hand_out(s);
    s.iteration = i;
    if (is_faulty(i)) device.fail(i % 40 == 7 ? DeviceCall::kCopy : DeviceCall::kLaunch, 1);
    if (i % 5 == 0) device.delay(DeviceCall::kLaunch, 1, 10, std::chrono::microseconds(100));
    std::fill(s.in.begin(), s.in.end(), i);
    auto p = s.stream->try_acquire(kInts * 4);
    s.stream->copy(p->data(), s.in.data(), kInts * 4, Copy::kToDevice, "in");
    s.stream->launch(AddOne{reinterpret_cast<int*>(p->data())}, {2, kInts / 2}, "add");
    s.stream->copy(s.out.data(), p->data(), kInts * 4, Copy::kToHost, "out");
    s.stream->record(*s.done);
  }
  for (Slot& s : slots) hand_out(s);
  EXPECT_EQ(failures, 8);
  device.check();  // all failures were reported
  EXPECT_EQ(device.usage().in_use, 0u);
}

}  // namespace
}  // namespace stoker
