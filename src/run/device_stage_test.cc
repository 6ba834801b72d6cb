// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The device stage on a simulated device: the same bytes as on the CPU, and work that overlaps on the virtual clock.
#include "memory/simulated.h"
#include "run/device_testing.h"

namespace stoker {
namespace {

using DeviceStage = OnDevice;

TEST_F(DeviceStage, GivesTheBytesOfTheCpu) {
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

TEST_F(DeviceStage, SkippedSamplesLeaveNoGap) {
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

TEST_F(DeviceStage, AFailedLaunchIsRaisedAndNothingHangs) {
  SampleFolder folder(8);
  Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
  device().fail(Work::kLaunch, 1);
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

TEST_F(DeviceStage, StepsOverlapOnTheVirtualClock) {
  SampleFolder folder(8, [](int) { return size_t(200000); });
  Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
  std::vector<Outputs> held;
  for (int s = 0; s < 6; ++s) held.push_back(*gpu.run());
  gpu.stop();
  int64_t work = 0;
  for (const TimelineEntry& e : device().timeline()) work += e.end_ns - e.start_ns;
  EXPECT_LT(device().virtual_now(), work * 3 / 4);  // streams run side by side
}

TEST_F(DeviceStage, AMissingDeviceIsSaidWhenThePipelineIsMade) {
  use_simulated_devices(0);
  SampleFolder folder(8);
  try {
    Pipeline gpu(device_graph(folder, DeviceKind::kGpu), options("pipelined"));
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("STOKER_SIMULATED_DEVICES"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace stoker
