// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A consumer with a stream takes the batches of a pipeline: Note [Lending] (batch/export.h).
#include <deque>
#include <future>
#include <thread>

#include "batch/export.h"
#include "run/device/testing.h"

namespace stoker {
namespace {

// Files of different sizes as int16 on `device`. The outputs are the labels and the values.
Graph graph_on(const SampleFolder& folder, DeviceKind device) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const int wide = g.add({.op = "cast",
                          .device = device,
                          .arguments = {{"dtype", std::string("int16")}},
                          .inputs = {Ref{files, 0}}});
  g.outputs = {{files, 1}, {wide, 0}};
  return g;
}

// Reads every sample on its own stream, and drops the batches before that is done.
class Training {
 public:
  Training() : stream_(stoker::device(0).make_stream("training")) {}
  Stream& stream() { return *stream_; }

  void take(Outputs out, int64_t step_ns = 0) {
    const Batch& b = out.batches[1];
    std::vector<std::unique_ptr<Lease>> leases;
    for (const Sample& s : b.samples) {
      leases.push_back(
          std::make_unique<Lease>(*b.on_device, s.owner, SimulatedDevice::foreign(*stream_)));
      std::string& to = read_.emplace_back(static_cast<size_t>(s.view.bytes()), 0);
      stream_->copy(to.data(), s.view.data, to.size(), Copy::kToHost, "read");
    }
    stream_->call({}, step_ns, "train");
  }
  std::vector<std::string> all() {
    stream_->synchronize();
    return {read_.begin(), read_.end()};
  }

 private:
  std::deque<std::string> read_;  // outlives the stream, which writes here
  std::unique_ptr<Stream> stream_;
};

class DeviceExport : public OnSimulatedDevice {
 protected:
  std::vector<std::string> expected(int steps) const { return expected(folder_, steps); }
  static std::vector<std::string> expected(const SampleFolder& folder, int steps) {
    Pipeline cpu(graph_on(folder, DeviceKind::kCpu), options("simple"));
    std::vector<std::string> all;
    for (int s = 0; s < steps; ++s) {
      const Outputs out = *cpu.run();
      for (size_t i = 0; i < out.batches[1].samples.size(); ++i)
        all.push_back(on_host(out.batches[1], i));
    }
    return all;
  }

  const SampleFolder folder_{11, [](int i) { return size_t(1 + 300 * i); }};
};

// The training begins only when all steps are made, handed out and dropped. If the host waited for
// it, the test would hang.
TEST_F(DeviceExport, TheHostWaitsForNoStep) {
  for (const char* executor : {"simple", "pipelined"}) {
    SetUp();
    Training training;
    std::promise<void> go;
    training.stream().call([&] { go.get_future().wait(); }, 0, "held up");
    Pipeline gpu(graph_on(folder_, DeviceKind::kGpu), options(executor));
    for (int s = 0; s < 8; ++s) training.take(*gpu.run());
    EXPECT_EQ(device().host_now(), 0);
    go.set_value();
    EXPECT_EQ(training.all(), expected(8)) << executor;
    device().check();
  }
}

// The host waits only for memory of steps that the device has not begun, which wait here too.
TEST_F(DeviceExport, MemoryOfStepsUnderWayComesBack) {
  Training training;
  std::promise<void> go;
  training.stream().call([&] { go.get_future().wait(); }, 0, "held up");
  int waits = 0;
  device().on_synchronize([&] {
    if (++waits == 1) go.set_value();
  });
  const SampleFolder folder(40, [](int) { return size_t{8000}; });
  PipelineOptions o = options("pipelined");
  o.prefetch_queue_depth = 1;
  o.memory_limit = 100 << 10;  // half of it is for batches: one step of 32 KiB
  Pipeline gpu(graph_on(folder, DeviceKind::kGpu), o);
  for (int s = 0; s < 10; ++s) training.take(*gpu.run());
  EXPECT_GE(waits, 1);
  EXPECT_EQ(training.all(), expected(folder, 10));
  device().on_synchronize({});
}

TEST_F(DeviceExport, TheTrainingReadsTheRightBytesAtAnyPace) {
  Training training;
  Pipeline gpu(graph_on(folder_, DeviceKind::kGpu), options("pipelined"));
  for (int s = 0; s < 40; ++s) {
    if (s % 3 == 0)
      training.stream().call([] { std::this_thread::sleep_for(std::chrono::microseconds(300)); }, 0,
                             "slow");
    if (s % 5 == 0) device().delay(DeviceCall::kCopy, 1, 0, std::chrono::microseconds(300));
    Outputs out = *gpu.run();
    std::thread([&] { training.take(std::move(out)); }).join();
  }
  EXPECT_EQ(training.all(), expected(40));
  gpu.stop();
  EXPECT_EQ(device().usage().in_use, 0u);
  device().check();
}

TEST_F(DeviceExport, BatchesOutliveThePipeline) {
  Training training;
  std::promise<void> go;
  training.stream().call([&] { go.get_future().wait(); }, 0, "held up");
  std::vector<Outputs> held;
  {
    Pipeline gpu(graph_on(folder_, DeviceKind::kGpu), options("pipelined"));
    for (int s = 0; s < 3; ++s) held.push_back(*gpu.run());
  }
  for (Outputs& out : held) training.take(std::move(out));
  held.clear();
  EXPECT_EQ(device().usage().in_use, 0u);
  go.set_value();
  EXPECT_EQ(training.all(), expected(3));
  device().check();
}

// If the training's step takes longer than making a batch, only the training's time counts.
TEST_F(DeviceExport, MakingBatchesOverlapsWithTheTraining) {
  constexpr int kSteps = 20;
  constexpr int64_t kTrainNs = 100000;
  Training training;
  Pipeline gpu(graph_on(folder_, DeviceKind::kGpu), options("pipelined"));
  for (int s = 0; s < kSteps; ++s) training.take(*gpu.run(), kTrainNs);
  int64_t end = 0, making = 0, reading = 0;
  for (const TimelineEntry& e : device().timeline()) {
    if (e.name == "train") end = std::max(end, e.end_ns);
    if (e.name == "read") reading += e.end_ns - e.start_ns;
    else if (e.name != "train") making += e.end_ns - e.start_ns;
  }
  EXPECT_GE(end, kSteps * kTrainNs + reading);
  EXPECT_LT(end, kSteps * kTrainNs + reading + making / 4);
}

}  // namespace
}  // namespace stoker
