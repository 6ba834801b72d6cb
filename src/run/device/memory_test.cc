// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How much device memory and pinned host memory the device stage holds, and that the host does not
// wait for the device.
#include <cstring>
#include <thread>

#include "base/mutex.h"
#include "run/device/testing.h"

namespace stoker {
namespace {

using DeviceMemory = OnDevice;
using MemoryOnSimulated = OnSimulatedDevice;

size_t some_size(int i) { return size_t(500 + (i * 7919) % 9000); }

// How many steps are in flight depends on time, so the high-water mark is compared with the most
// that there can be: `depth` steps, one that is being enqueued, one that the user holds, and what
// is released after the work being enqueued. A step has two outputs of float16 of four samples.
TEST_F(DeviceMemory, StaysFlatWhateverTheSizes) {
  constexpr size_t kLargest = 4 * 9500, kStep = 2 * 2 * kLargest, kPassing = kLargest + (16 << 10);
  const SampleFolder folder(97, some_size);
  PipelineOptions o = options("pipelined");
  const size_t most = (static_cast<size_t>(o.prefetch_queue_depth) + 2) * kStep + kPassing;
  size_t pinned = 0;
  Pipeline p(device_graph(folder, DeviceKind::kGpu), o);
  for (int s = 0; s < 1000; ++s) {
    (void)on_host(p.run()->batches[1], 0);
    ASSERT_LE(p.stats().executor.device.high_water, most) << s;
    if (s == 50) pinned = device().usage().pinned_high_water;
  }
  EXPECT_EQ(device().usage().pinned_high_water, pinned);
  EXPECT_EQ(p.stats().executor.device.limit, device().usage().limit);
  p.stop();
  EXPECT_EQ(device().usage().in_use, 0u);
}

TEST_F(DeviceMemory, IsGivenBackByTrim) {
  const SampleFolder folder(20, some_size);
  Pipeline p(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
  for (int s = 0; s < 10; ++s) (void)on_host(p.run()->batches[1], 0);
  EXPECT_GT(device().usage().pinned, 0u);
  p.stop();
  p.trim();
  EXPECT_EQ(device().usage().pinned, 0u);
  EXPECT_EQ(device().usage().in_use, 0u);
  EXPECT_EQ(on_host(p.run()->batches[1], 0).size() % 2, 0u) << "it goes on";
}

TEST_F(MemoryOnSimulated, TheDeviceIsTrimmedAlsoWhenNothingRuns) {
  const SampleFolder folder(20, some_size);
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(device_graph(folder, DeviceKind::kGpu), options(executor));
    const int before = device().trims();
    p.trim();
    EXPECT_EQ(device().trims(), before + 1) << "what others left";
    (void)p.run();
    p.trim();
    EXPECT_EQ(device().trims(), before + 2);
    p.stop();
    p.trim();
    EXPECT_EQ(device().trims(), before + 3);
  }
}

TEST_F(DeviceMemory, ALimitOfLittleMoreThanOneStepChangesNothing) {
  const SampleFolder folder(40, some_size);
  Pipeline judge(device_graph(folder, DeviceKind::kCpu), options("simple"));
  PipelineOptions o = options("pipelined");
  o.prefetch_queue_depth = 4;
  o.device_memory_limit = 260 << 10;
  Pipeline p(device_graph(folder, DeviceKind::kGpu), o);
  for (int s = 0; s < 30; ++s) {
    const Outputs want = *judge.run(), got = *p.run();
    for (size_t i = 0; i < 4; ++i)
      ASSERT_EQ(on_host(got.batches[1], i), on_host(want.batches[1], i)) << s;
    ASSERT_LE(p.stats().executor.device.high_water, o.device_memory_limit);
  }
}

TEST_F(DeviceMemory, WhatTheUserHoldsIsNamedAndLettingGoHelps) {
  const SampleFolder folder(40, [](int) { return size_t{5000}; });
  PipelineOptions o = options("pipelined");
  o.device_memory_limit = 700 << 10;
  Pipeline p(device_graph(folder, DeviceKind::kGpu), o);
  std::vector<Outputs> held;
  std::string text;
  for (int s = 0; s < 40 && text.empty(); ++s) {
    try {
      held.push_back(*p.run());
    } catch (const BudgetError& e) {
      text = e.what();
    }
  }
  EXPECT_GE(held.size(), 3u);
  EXPECT_NE(text.find(device().name() + ": no memory for"), std::string::npos) << text;
  EXPECT_NE(text.find("of its limit of 700.0 KiB, outputs that you hold included"),
            std::string::npos);
  const auto next = static_cast<int64_t>(held.size());
  held.clear();
  Pipeline judge(device_graph(folder, DeviceKind::kCpu), options("simple"));
  for (int64_t s = 0; s < next; ++s) (void)judge.run();
  EXPECT_EQ(labels(*p.run()), labels(*judge.run())) << "the step that found no room comes next";
}

TEST_F(DeviceMemory, WhatOnlyGoesUpIsThereOnce) {
  const SampleFolder folder(4, [](int) { return size_t{10000}; });
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const auto up = [&](int from) {
    return g.add({.op = "copy", .device = DeviceKind::kGpu, .inputs = {Ref{from, 0}}});
  };
  const int there = up(files);
  g.outputs = {{files, 1}, {there, 0}};
  Pipeline alone(g, options("simple"));
  const Outputs out = *alone.run();
  EXPECT_EQ(alone.stats().executor.device.high_water, 4u * 10000);
  g.outputs.emplace_back(up(files), 0);
  Pipeline two(g, options("simple"));
  const Outputs both = *two.run();
  for (size_t i = 0; i < 4; ++i) {
    const std::string want(10000, static_cast<char>(label(out, i)));
    EXPECT_EQ(on_host(out.batches[1], i), want);
    EXPECT_EQ(on_host(both.batches[1], i), want);
    EXPECT_EQ(on_host(both.batches[2], i), want);
  }
  EXPECT_NE(both.batches[1].samples[0].view.data, both.batches[2].samples[0].view.data);
}

TEST_F(MemoryOnSimulated, EveryCopyIsOfPinnedMemory) {
  const SampleFolder ragged(20, some_size), equal(20, [](int) { return size_t{3000}; });
  for (const SampleFolder* folder : {&ragged, &equal})
    for (const char* executor : {"simple", "pipelined"}) {
      Pipeline p(device_graph(*folder, DeviceKind::kGpu), options(executor));
      for (int s = 0; s < 8; ++s) (void)p.run();
    }
  EXPECT_EQ(device().pageable_copies(), 0);
}

// A constant is the same for every sample, so it has a fixed slot on the host.
int add_constant(Graph& g, int64_t floats) {
  return g.add(
      {.op = "constant",
       .arguments = {{"fdata", std::vector<double>{7}}, {"shape", std::vector<int64_t>{floats}}}});
}

// Pinning waits here for calls on a stream that release memory, as a GPU's driver may.
TEST_F(MemoryOnSimulated, PinningHoldsNoLockThatAStreamsCallTakes) {
  // There is no room for whole slabs, so each batch of constants is pinned by itself.
  use_simulated_devices(1, {.pinned_limit = 8 << 20});
  const SampleFolder folder(20, some_size);
  Graph g = device_graph(folder, DeviceKind::kGpu);
  g.outputs.emplace_back(add_constant(g, 4096), 0);
  struct {
    Mutex mutex;
    std::vector<Outputs> held STOKER_GUARDED_BY(mutex);
    int let_go STOKER_GUARDED_BY(mutex) = 0;
  } user;
  {
    Pipeline p(g, options("pipelined"));
    device().on_pinning([&] {
      const MutexLock lock(user.mutex);
      if (user.held.empty()) return;
      std::thread([&]() STOKER_REQUIRES(user.mutex) { user.held.pop_back(); }).join();
      ++user.let_go;
    });
    for (int s = 0; s < 30; ++s) {
      Outputs out = *p.run();
      const MutexLock lock(user.mutex);
      user.held.push_back(std::move(out));
    }
  }
  device().on_pinning({});
  const MutexLock lock(user.mutex);
  EXPECT_GT(user.let_go, 5);
}

// While memory for the third step is pinned, the oldest step needs room and closes the second,
// which is then made before the third.
TEST_F(MemoryOnSimulated, AStepThatIsOverruledWhileItsMemoryIsPinnedIsMadeLater) {
  constexpr size_t kConstants = 4 * 4096 * sizeof(float);
  use_simulated_devices(1, {.pinned_limit = 8 << 20});
  const SampleFolder folder(20, [](int) { return size_t{8000}; });
  Graph g = raw_graph(folder, {{"random_shuffle", true}});
  g.outputs.emplace_back(add_constant(g, 4096), 0);
  g.outputs.emplace_back(g.add({.op = "random.coin_flip", .device = DeviceKind::kGpu}), 0);
  Pipeline judge(g, options("simple"));
  std::vector<std::vector<int32_t>> want;
  for (int s = 0; s < 6; ++s) want.push_back(labels(*judge.run()));

  std::set<std::string> files;
  for (int i = 0; i < 20; ++i) files.insert(folder.path(i));
  Gate gate(files);
  io::WithFaults faults(gate);
  PipelineOptions o = options("pipelined");
  o.memory_limit = 2 * (3 * kConstants + (20 << 10));  // half: three steps' constants, two files
  Pipeline p(g, o);
  const auto is_third_counted = [&] { return p.stats().batches.in_use >= 3 * kConstants; };
  int overruled = 0;
  device().on_pinning([&, opens = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != opens || overruled || !is_third_counted()) return;
    gate.open();
    while (is_third_counted()) std::this_thread::yield();
    ++overruled;
  });
  for (int s = 0; s < 6; ++s) EXPECT_EQ(labels(*p.run()), want[s]) << s;
  EXPECT_EQ(overruled, 1);
  device().on_pinning({});
}

TEST_F(MemoryOnSimulated, AStepThatFindsHalfOfItsMemoryLetsGoOfIt) {
  use_simulated_devices(1, {.pinned_limit = 1 << 20});
  Graph g;
  g.outputs = {{add_constant(g, 4096), 0},
               {add_constant(g, 1 << 20), 0},
               {g.add({.op = "random.coin_flip", .device = DeviceKind::kGpu}), 0}};
  Pipeline p(g, options("pipelined"));
  EXPECT_THROW(p.run(), BudgetError);
  EXPECT_EQ(p.stats().batches.in_use, 0u);
}

struct Train {
  static constexpr int kPhases = 1;
  STOKER_HD void run(int, int64_t, int, int, std::byte*) const {}
};

// The stages are copies to the device, kernels, and the consumer's work on its own stream.
TEST_F(MemoryOnSimulated, NothingWaitsAndTheSlowestStageSetsThePace) {
  constexpr int kSteps = 40;
  const SampleFolder folder(16, [](int) { return size_t{100000}; });
  for (const int64_t train_ns : {1000, 30000, 400000}) {
    use_simulated_devices(1);
    Pipeline p(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
    const auto consumer = device().make_stream("train");
    std::vector<Outputs> held;
    for (int s = 0; s < kSteps; ++s) {
      held.push_back(*p.run());
      consumer->wait(*held.back().batches[1].on_device->ready);
      consumer->launch(Train{}, {1, 1, 0, train_ns}, "train");
    }
    EXPECT_EQ(device().host_now(), 0) << "the host waited for the device";
    p.stop();
    int64_t copies = 0, kernels = 0, trained = 0;
    for (const TimelineEntry& e : device().timeline()) {
      const bool is_copy = e.name == "upload" || e.name.ends_with("tables") || e.name == "copy";
      (e.stream == "train" ? trained : is_copy ? copies : kernels) += e.end_ns - e.start_ns;
    }
    EXPECT_LT(device().virtual_now(),
              1.25 * static_cast<double>(std::max({copies, kernels, trained})))
        << copies << " " << kernels << " " << trained;
    consumer->synchronize();
  }
}

}  // namespace
}  // namespace stoker
