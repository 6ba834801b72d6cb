// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The device stage gives the bytes of the CPU, and steps overlap on the virtual clock.
#include <map>
#include <set>

#include "device/simulated/simulated.h"
#include "run/device/testing.h"

namespace stoker {
namespace {

using StageOnDevice = OnDevice;
using StageOnSimulated = OnSimulatedDevice;

TEST_F(StageOnDevice, GivesTheBytesOfTheCpu) {
  SampleFolder folder(11, [](int i) { return size_t(1 + 300 * i); });
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline cpu(device_graph(folder, DeviceKind::kCpu), options("simple"));
    Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options(executor));
    for (int s = 0; s < 8; ++s) {
      const Outputs want = *cpu.run(), got = *gpu.run();
      EXPECT_EQ(labels(got), labels(want));
      EXPECT_NE(got.batches[1].samples[0].view.data, got.batches[2].samples[0].view.data);
      for (size_t i = 0; i < 4; ++i)
        for (int k : {1, 2})
          EXPECT_EQ(on_host(got.batches[k], i), on_host(want.batches[k], i)) << executor << s << i;
    }
  }
}

TEST_F(StageOnDevice, SkippedSamplesLeaveNoGap) {
  SampleFolder folder(8, [](int i) { return size_t(10 + i); });
  std::filesystem::remove(folder.path(2));
  Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined", "skip"));
  size_t samples = 0;
  for (int s = 0; s < 2; ++s) {
    const Outputs out = *gpu.run();
    for (size_t i = 0; i < out.batches[0].samples.size(); ++i, ++samples)
      EXPECT_EQ(on_host(out.batches[1], i).size(), 2u * (10 + label(out, i)));
  }
  EXPECT_EQ(samples, 7u);
}

// One output is copied to the host twice and also stays on the device.
Graph copying_graph(const SampleFolder& folder, DeviceKind device) {
  Graph g = device_graph(folder, device);
  const Ref half = g.outputs[1], wide = *g.nodes[static_cast<size_t>(half.node)].inputs[0];
  g.outputs = {g.outputs[0], {half, true}, half, {half, true}, {wide, true}};
  return g;
}

TEST_F(StageOnDevice, OutputsAreCopiedToTheHostWhereThatIsAskedFor) {
  for (const bool dense : {false, true}) {
    SampleFolder folder(11, [&](int i) { return size_t(dense ? 900 : 1 + 300 * i); });
    for (const char* executor : {"simple", "pipelined"}) {
      Pipeline cpu(copying_graph(folder, DeviceKind::kCpu), options("simple"));
      Pipeline gpu(copying_graph(folder, DeviceKind::kGpu), options(executor));
      for (int s = 0; s < 8; ++s) {
        const Outputs want = *cpu.run(), got = *gpu.run();
        EXPECT_TRUE(got.batches[2].on_device);
        for (int k : {1, 3, 4}) {
          EXPECT_FALSE(got.batches[k].on_device);
          EXPECT_EQ(got.batches[k].dtype, want.batches[k].dtype);
          EXPECT_EQ(got.batches[k].layout, want.batches[k].layout);
        }
        EXPECT_NE(got.batches[1].samples[0].view.data, got.batches[3].samples[0].view.data);
        for (size_t i = 0; i < 4; ++i)
          for (int k : {1, 2, 3, 4})
            EXPECT_EQ(on_host(got.batches[k], i), on_host(want.batches[k], i)) << executor << s;
      }
      gpu.stop();
      EXPECT_EQ(device().usage().in_use, 0u);
    }
  }
}

TEST_F(StageOnSimulated, OnlyAHandOutWithSuchACopyWaits) {
  SampleFolder folder(8, [](int) { return size_t(1000); });
  Pipeline without(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
  (void)*without.run();
  EXPECT_EQ(device().host_now(), 0);
  without.stop();
  device().delay(DeviceCall::kCopy, 1, 5000000);
  Pipeline with(copying_graph(folder, DeviceKind::kGpu), options("pipelined"));
  (void)*with.run();
  EXPECT_GE(device().host_now(), 5000000);
}

TEST_F(StageOnDevice, CopiesOfSkippedSamplesLeaveNoGap) {
  SampleFolder folder(8, [](int i) { return size_t(10 + i); });
  std::filesystem::remove(folder.path(2));
  Pipeline gpu(copying_graph(folder, DeviceKind::kGpu), options("pipelined", "skip"));
  size_t samples = 0;
  for (int s = 0; s < 2; ++s) {
    const Outputs out = *gpu.run();
    for (size_t i = 0; i < out.batches[1].samples.size(); ++i, ++samples) {
      EXPECT_EQ(on_host(out.batches[1], i).size(), 2u * (10 + label(out, i)));
      EXPECT_EQ(on_host(out.batches[1], i), on_host(out.batches[2], i));
    }
  }
  EXPECT_EQ(samples, 7u);
}

TEST_F(StageOnDevice, HostCopiesCountInTheBudgetAndWaitForIt) {
  SampleFolder folder(8, [](int) { return size_t(100000); });
  PipelineOptions o = options("pipelined");
  o.memory_limit = 16 << 20;
  o.prefetch_queue_depth = 8;
  Pipeline gpu(copying_graph(folder, DeviceKind::kGpu), o);
  Pipeline cpu(copying_graph(folder, DeviceKind::kCpu), options("simple"));
  for (int s = 0; s < 10; ++s) {
    const Outputs want = *cpu.run(), got = *gpu.run();
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(on_host(got.batches[4], i), on_host(want.batches[4], i));
    EXPECT_GE(gpu.stats().batches.of(Use::kHeld), size_t{4} * 3 * 200000);
  }
}

// The call that releases memory runs on the host and holds up the stream. So there is only one for
// each stage, after all of its kernels and copies.
TEST_F(StageOnSimulated, WhatAStageUsesIsLetGoOnceBehindAllOfIt) {
  SampleFolder folder(8);
  for (const char* executor : {"simple", "pipelined"}) {
    const size_t before = device().timeline().size();
    Pipeline gpu(copying_graph(folder, DeviceKind::kGpu), options(executor));
    for (int s = 0; s < 3; ++s) (void)*gpu.run();
    gpu.stop();
    std::map<std::string, std::string> last;  // by stream
    int steps = 0;
    const std::vector<TimelineEntry> all = device().timeline();
    for (size_t k = before; k < all.size(); ++k) {
      std::string& work = last[all[k].stream];
      if (all[k].name == "release") {
        EXPECT_EQ(work, "download");
        ++steps;
      }
      work = all[k].name;
    }
    EXPECT_GE(steps, 3);
    for (const auto& [stream, name] : last) EXPECT_EQ(name, "release") << stream;
  }
}

TEST_F(StageOnSimulated, AFailedCopyToTheHostIsRaisedAtItsHandOut) {
  SampleFolder folder(8);
  Graph g = copying_graph(folder, DeviceKind::kGpu);
  g.outputs = {g.outputs[0], g.outputs[1]};
  Pipeline gpu(g, options("simple"));
  device().fail(DeviceCall::kCopy, 6);  // the first five are four uploads and the tables of a pass
  try {
    (void)gpu.run();
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("copy 'download'"), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find("epoch 0, step from position 0 on: simulated:0"), 0u);
  }
  EXPECT_EQ(on_host(gpu.run()->batches[1], 0).size(), 32u);
}

TEST_F(StageOnDevice, ThePlanSaysWhatIsCopied) {
  SampleFolder folder(8);
  Pipeline gpu(copying_graph(folder, DeviceKind::kGpu), options("simple"));
  const std::string plan = gpu.plan_in_words();
  EXPECT_NE(plan.find("; copied to the host, int16"), std::string::npos) << plan;
}

TEST_F(StageOnSimulated, AFailedLaunchIsRaisedAndNothingHangs) {
  SampleFolder folder(8);
  Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
  device().fail(DeviceCall::kLaunch, 1);
  EXPECT_THROW(
      {
        for (int s = 0; s < 8; ++s) {
          const Outputs out = *gpu.run();
          (void)on_host(out.batches[1], 0);
        }
      },
      DeviceError);
  EXPECT_EQ(on_host(gpu.run()->batches[1], 0).size(), 32u);
}

TEST_F(StageOnSimulated, StepsOverlapOnTheVirtualClock) {
  SampleFolder folder(8, [](int) { return size_t(200000); });
  Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
  std::vector<Outputs> held;
  for (int s = 0; s < 6; ++s) held.push_back(*gpu.run());
  gpu.stop();
  int64_t work = 0;
  for (const TimelineEntry& e : device().timeline()) work += e.end_ns - e.start_ns;
  EXPECT_LT(device().virtual_now(), work * 3 / 4);  // streams run side by side
}

// Draws whose shapes other draws decide, some of them empty; a constant; draws in the shape of
// another value.
Graph drawing_graph(DeviceKind device) {
  Graph g;
  const auto ints = [](std::initializer_list<int64_t> v) { return std::vector<int64_t>(v); };
  const int size = g.add({.op = "random.uniform",
                          .device = device,
                          .arguments = {{"values", std::vector<double>{0, 1, 3, 4, 700}},
                                        {"shape", ints({2})},
                                        {"dtype", std::string("int32")}}});
  const int list = g.add({.op = "random.uniform", .arguments = {{"shape", ints({3})}}});
  const int draws = g.add({.op = "random.uniform",
                           .device = device,
                           .arguments = {{"dtype", std::string("float16")}},
                           .links = {{"shape", Ref{size, 0}}, {"values", Ref{list, 0}}}});
  const int flips = g.add({.op = "random.coin_flip", .device = device, .inputs = {Ref{draws, 0}}});
  const int constant = g.add({.op = "constant",
                              .device = device,
                              .arguments = {{"fdata", std::vector<double>{0.5, -2, 3e9, 7}},
                                            {"shape", ints({2, 2})},
                                            {"dtype", std::string("int32")}}});
  const int both = g.add({.op = "cast",
                          .device = device,
                          .arguments = {{"dtype", std::string("uint8")}},
                          .inputs = {Ref{flips, 0}}});
  g.outputs = {{draws, 0}, {flips, 0}, {constant, 0}, {both, 0}, {size, 0}, {flips, 0}};
  return g;
}

void expect_equal(const Outputs& got, const Outputs& want, const std::string& what) {
  ASSERT_EQ(got.batches.size(), want.batches.size()) << what;
  for (size_t k = 0; k < want.batches.size(); ++k) {
    ASSERT_EQ(got.batches[k].samples.size(), want.batches[k].samples.size()) << what;
    for (size_t i = 0; i < want.batches[k].samples.size(); ++i) {
      EXPECT_EQ(got.batches[k].samples[i].view.shape, want.batches[k].samples[i].view.shape);
      EXPECT_EQ(on_host(got.batches[k], i), on_host(want.batches[k], i)) << what << k << " " << i;
    }
  }
}

TEST_F(StageOnDevice, DrawsWhatTheCpuDraws) {
  for (int batch_size : {1, 4, 19})
    for (const char* executor : {"simple", "pipelined"}) {
      PipelineOptions o = options(executor);
      o.batch_size = batch_size;
      Pipeline cpu(drawing_graph(DeviceKind::kCpu), o), gpu(drawing_graph(DeviceKind::kGpu), o);
      size_t empty = 0;
      for (int s = 0; s < 6; ++s) {
        const Outputs want = *cpu.run(), got = *gpu.run();
        expect_equal(got, want, executor + std::to_string(s));
        for (const Batch& b : got.batches) EXPECT_TRUE(b.on_device);
        for (const Sample& d : want.batches[0].samples) empty += d.view.bytes() == 0;
        EXPECT_NE(got.batches[1].samples[0].owner, got.batches[5].samples[0].owner);
      }
      EXPECT_TRUE(empty > 0 || batch_size == 1);
    }
}

// Sequences whose frames are flipped by a draw for each frame.
Graph frames_graph(DeviceKind device) {
  Graph g;
  std::vector<int64_t> pixels;
  for (int64_t i = 0; i < 3 * 4 * 5; ++i) pixels.push_back(i);
  const int frames = g.add({.op = "constant",
                            .arguments = {{"idata", pixels},
                                          {"shape", std::vector<int64_t>{3, 4, 5, 1}},
                                          {"layout", std::string("FHWC")},
                                          {"dtype", std::string("uint8")}}});
  const auto by_frame = [&](const char* op) {
    const int draw =
        g.add({.op = op, .device = device, .arguments = {{"shape", std::vector<int64_t>{3}}}});
    return g.add({.op = "per_frame", .device = device, .inputs = {Ref{draw, 0}}});
  };
  const int mirror = by_frame("random.coin_flip");
  const int flipped = g.add({.op = "flip",
                             .device = device,
                             .inputs = {Ref{frames, 0}},
                             .links = {{"horizontal", Ref{mirror, 0}}}});
  g.outputs = {{flipped, 0}, {mirror, 0}};
  return g;
}

TEST_F(StageOnDevice, ArgumentsMayHaveAValuePerFrame) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline cpu(frames_graph(DeviceKind::kCpu), options(executor)),
        gpu(frames_graph(DeviceKind::kGpu), options(executor));
    std::set<std::string> seen;
    for (int s = 0; s < 6; ++s) {
      const Outputs want = *cpu.run(), got = *gpu.run();
      expect_equal(got, want, executor + std::to_string(s));
      for (size_t i = 0; i < 4; ++i) seen.insert(on_host(got.batches[0], i));
    }
    EXPECT_GT(seen.size(), 2u);
  }
}

TEST_F(StageOnSimulated, DrawsUnderDelaysOnSeveralStreams) {
  auto& device = dynamic_cast<SimulatedDevice&>(stoker::device(0));
  Pipeline cpu(drawing_graph(DeviceKind::kCpu), options("simple")),
      gpu(drawing_graph(DeviceKind::kGpu), options("pipelined"));
  for (int64_t n : {2, 3, 7, 11}) {
    device.delay(DeviceCall::kCopy, n, 1000, std::chrono::milliseconds(3));
    device.delay(DeviceCall::kLaunch, n, 1000, std::chrono::milliseconds(5));
  }
  std::vector<Outputs> held;
  for (int s = 0; s < 8; ++s) held.push_back(*gpu.run());
  for (int s = 0; s < 8; ++s) expect_equal(held[s], *cpu.run(), std::to_string(s));
}

TEST_F(StageOnSimulated, AnAllocationOrCopyThatFailsIsRaisedAndNothingHangs) {
  auto& device = dynamic_cast<SimulatedDevice&>(stoker::device(0));
  for (DeviceCall what : {DeviceCall::kAllocate, DeviceCall::kCopy, DeviceCall::kLaunch})
    for (int64_t nth : {1, 2, 5, 9}) {
      Pipeline gpu(drawing_graph(DeviceKind::kGpu), options("pipelined"));
      device.fail(what, nth);
      EXPECT_THROW(
          {
            for (int s = 0; s < 8; ++s) {
              const Outputs out = *gpu.run();
              for (const Batch& b : out.batches) (void)on_host(b, 0);
            }
          },
          DeviceError)
          << static_cast<int>(what) << " " << nth;
      Pipeline cpu(drawing_graph(DeviceKind::kCpu), options("simple"));
      Pipeline again(drawing_graph(DeviceKind::kGpu), options("pipelined"));
      expect_equal(*again.run(), *cpu.run(), "after it");
    }
}

TEST_F(StageOnSimulated, NoMemoryThereIsSaid) {
  use_simulated_devices(1, {.memory_limit = 900});
  Graph g;
  const int draws = g.add({.op = "random.uniform",
                           .device = DeviceKind::kGpu,
                           .arguments = {{"shape", std::vector<int64_t>{100}}}});
  g.outputs = {{draws, 0}};
  Pipeline gpu(g, options("pipelined"));
  try {
    (void)gpu.run();
    FAIL() << "no error";
  } catch (const BudgetError& e) {
    EXPECT_NE(std::string(e.what()).find("no memory for 1.6 KiB"), std::string::npos) << e.what();
  }
}

TEST_F(StageOnSimulated, WhatOnlyGivesArgumentsIsNotRunThere) {
  Graph g;
  const int flip = g.add({.op = "random.coin_flip", .device = DeviceKind::kGpu});
  const int number = g.add({.op = "random.uniform", .links = {{"values", Ref{flip, 0}}}});
  g.outputs = {{number, 0}};
  Pipeline p(g, options("pipelined"));
  EXPECT_NE(p.plan_in_words().find("on the CPU first, it decides"), std::string::npos);
  const Outputs out = *p.run();
  EXPECT_EQ(out.batches[0].samples.size(), 4u);
  p.stop();
  EXPECT_TRUE(device().timeline().empty());
}

TEST_F(StageOnSimulated, AMissingDeviceIsSaidWhenThePipelineIsMade) {
  use_simulated_devices(0);
  SampleFolder folder(8);
  try {
    Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("there is no device 0"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace stoker
