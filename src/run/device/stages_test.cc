// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators on the CPU that read what a device makes give the bytes of a graph that runs on the CPU
// alone, also under faults and with little memory.
#include "run/device/testing.h"

namespace stoker {
namespace {

using Stages = OnDevice;
using StagesOnSimulated = OnSimulatedDevice;

// Values go to the device and back twice. Files shorter than the window fail in the second chain,
// missing ones in the first.
Graph graph(const SampleFolder& folder, DeviceKind device) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const int start = g.add({.op = "random.uniform",
                           .arguments = {{"values", std::vector<double>{0, 1, 2, 3}},
                                         {"shape", std::vector<int64_t>{1}},
                                         {"dtype", std::string("int32")}}});
  const Ref wide = add_cast(g, device, "int16", {files, 0});
  const Ref part{
      g.add({.op = "slice",
             .arguments = {{"axes", std::vector<int64_t>{0}}, {"shape", std::vector<int64_t>{6}}},
             .inputs = {wide},
             .links = {{"start", Ref{start, 0}}}}),
      0};
  const Ref half = add_cast(g, device, "float16", part);
  const Ref back = add_cast(g, DeviceKind::kCpu, "int32", half);
  const Ref again = add_cast(g, device, "float32", back);
  const Ref draw{g.add({.op = "random.uniform", .device = device, .links = {{"values", half}}}), 0};
  const Ref late{g.add({.op = "random.uniform", .inputs = {back}, .links = {{"values", half}}}), 0};
  g.outputs = {{files, 1},   wide, part,  half, back, {wide, true},
               {half, true}, wide, again, draw, late};
  return g;
}

TEST_F(Stages, GiveTheBytesOfTheCpuUnderEveryPolicy) {
  const SampleFolder some_fail(23, [](int i) { return size_t(4 + 3 * i); }),
      all_fit(12, [](int) { return size_t{40}; });
  std::filesystem::remove(some_fail.path(5));
  for (const SampleFolder* folder : {&some_fail, &all_fit})
    for (const std::string on_error : {"raise", "skip", "replace", "drop"})
      for (const int batch_size : {1, 4, 19}) {
        if (batch_size != 4 && (folder == &all_fit || on_error == "raise")) continue;
        PipelineOptions o = options("simple", on_error.c_str());
        o.batch_size = batch_size;
        const int steps = batch_size == 1 ? 30 : 6;
        const Given want = run(graph(*folder, DeviceKind::kCpu), o, steps);
        EXPECT_EQ(want.failures > 0, folder == &some_fail);
        for (const ExecutorKind executor : {ExecutorKind::kSimple, ExecutorKind::kPipelined}) {
          o.executor = executor;
          EXPECT_EQ(run(graph(*folder, DeviceKind::kGpu), o, steps), want)
              << to_string(to_value(executor)) << " " << on_error << " " << batch_size;
        }
      }
}

TEST_F(Stages, AStepThatLosesAllItsSamplesOnTheWayIsRaised) {
  const SampleFolder short_ones(8, [](int) { return size_t{2}; });
  for (const char* on_error : {"skip", "replace"})
    for (const char* executor : {"simple", "pipelined"}) {
      Pipeline p(graph(short_ones, DeviceKind::kGpu), options(executor, on_error));
      for (int s = 0; s < 3; ++s) EXPECT_THROW((void)p.run(), BatchError);
      EXPECT_EQ(p.stats().executor.samples, 0);
      EXPECT_EQ(p.stats().failures, 3 * 4 * (on_error == std::string("skip") ? 1 : 17));
    }
}

TEST_F(Stages, AStepThatLosesAllItsSamplesOnTheWayIsDropped) {
  const SampleFolder short_ones(8, [](int) { return size_t{2}; });
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(graph(short_ones, DeviceKind::kGpu), options(executor, "drop"));
    for (int s = 0; s < 4; ++s) EXPECT_TRUE(p.run()->is_lost);
    EXPECT_EQ(p.stats().dropped, 4);
    EXPECT_EQ(p.stats().failures, 4 * 4);
    p.stop();
    EXPECT_EQ(device().usage().in_use, 0u);
    EXPECT_EQ(p.stats().batches.in_use, 0u);
  }
}

TEST_F(Stages, EverySampleCountsOnce) {
  const SampleFolder folder(12, [](int) { return size_t{40}; });
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(graph(folder, DeviceKind::kGpu), options(executor));
    for (int s = 1; s <= 6; ++s) {
      (void)p.run();
      EXPECT_GE(p.stats().executor.samples, s * 4);
      EXPECT_LE(p.stats().executor.samples, (s + 3) * 4);
    }
  }
}

TEST_F(Stages, LittleMemoryChangesNothing) {
  const SampleFolder folder(40, [](int i) { return size_t(9000 + 100 * i); });
  const Given want = run(graph(folder, DeviceKind::kCpu), options("simple"), 20);
  PipelineOptions o = options("pipelined");
  o.prefetch_queue_depth = 5;
  o.memory_limit = 1200 << 10;
  o.device_memory_limit = 400 << 10;
  Pipeline p(graph(folder, DeviceKind::kGpu), o);
  EXPECT_EQ(run(p, 20), want);
  EXPECT_LE(p.stats().batches.high_water, o.memory_limit / 2);
  EXPECT_LE(p.stats().executor.device.high_water, o.device_memory_limit);
  p.stop();
  EXPECT_EQ(device().usage().in_use, 0u);
  EXPECT_EQ(p.stats().batches.in_use, 0u);
}

TEST_F(Stages, ADeviceTooSmallForOneStepSaysSo) {
  const SampleFolder folder(8, [](int) { return size_t{5000}; });
  for (const char* executor : {"simple", "pipelined"}) {
    PipelineOptions o = options(executor);
    o.device_memory_limit = 50 << 10;  // enough for the first kDevice stage
    Pipeline p(graph(folder, DeviceKind::kGpu), o);
    for (int s = 0; s < 2; ++s) EXPECT_THROW((void)p.run(), BudgetError);
  }
}

TEST_F(Stages, ThePlanSaysThem) {
  const SampleFolder folder(8);
  const Pipeline p(graph(folder, DeviceKind::kGpu), options("simple"));
  const std::string plan = p.plan_in_words();
  for (const char* part :
       {"stages: chain, gpu, chain, gpu, chain, gpu;", "gpu   2 cast 'cast_0'", "chain 3 slice",
        "gpu   4 cast 'cast_1'", "chain 5 cast", "copied to the host, int16"})
    EXPECT_NE(plan.find(part), std::string::npos) << part << " in\n" << plan;
}

TEST_F(StagesOnSimulated, DelaysChangeNothing) {
  const SampleFolder folder(23, [](int i) { return size_t(4 + 3 * i); });
  for (const char* on_error : {"skip", "replace"}) {
    const Given want = run(graph(folder, DeviceKind::kCpu), options("simple", on_error), 8);
    for (const int64_t stride : {2, 3, 5}) {
      use_delayed_device(stride);
      EXPECT_EQ(run(graph(folder, DeviceKind::kGpu), options("pipelined", on_error), 8), want);
    }
  }
}

TEST_F(StagesOnSimulated, WhatFailsIsRaisedAndNothingHangsOrLeaks) {
  const SampleFolder folder(8, [](int) { return size_t{40}; });
  const Given want = run(graph(folder, DeviceKind::kCpu), options("simple"), 4);
  expect_faults_are_raised(graph(folder, DeviceKind::kGpu), want, 40, 3);
}

TEST_F(StagesOnSimulated, EndWhileSomethingIsOnItsWay) {
  const SampleFolder folder(16, [](int) { return size_t{40}; });
  for (int n = 1; n <= 12; ++n) {
    use_simulated_devices(1);
    device().delay(DeviceCall::kCopy, n, 0, std::chrono::milliseconds(20));
    Pipeline p(graph(folder, DeviceKind::kGpu), options("pipelined"));
    p.schedule();
    if (n % 2) (void)p.run();
  }
  EXPECT_EQ(device().usage().in_use, 0u);
}

TEST_F(StagesOnSimulated, StepsOverlapAndTheHostWaitsForCopiesOfOutputsOnly) {
  constexpr int kSteps = 12;
  const SampleFolder folder(16, [](int) { return size_t{100000}; });
  Graph g = graph(folder, DeviceKind::kGpu);
  std::erase_if(g.outputs, [](const Output& o) { return o.to_host; });
  PipelineOptions o = options("pipelined");
  o.prefetch_queue_depth = 6;
  Pipeline p(g, o);
  std::vector<Outputs> held;
  for (int s = 0; s < kSteps; ++s) held.push_back(*p.run());
  EXPECT_EQ(device().host_now(), 0);
  EXPECT_EQ(device().pageable_copies(), 0);
  p.stop();
  int64_t work = 0;
  for (const TimelineEntry& e : device().timeline()) work += e.end_ns - e.start_ns;
  EXPECT_LT(device().virtual_now(), work / 2);
}

}  // namespace
}  // namespace stoker
