// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>

#include "device/simulated/simulated.h"
#include "run/testing.h"

namespace stoker {

inline PipelineOptions options(const char* executor, const char* on_error = "raise") {
  PipelineOptions o;
  o.batch_size = 4;
  o.num_threads = 2;
  o.prefetch_queue_depth = 3;
  o.seed = 1;
  set_settings(o, {{"executor", std::string(executor)}, {"on_error", std::string(on_error)}});
  return o;
}

inline std::string on_host(const Batch& b, size_t i) {
  const View& v = b.samples[i].view;
  std::string bytes(static_cast<size_t>(v.bytes()), 0);
  if (!b.on_device) return {v.as<char>(), bytes.size()};
  auto stream = b.on_device->device->make_stream("test");
  stream->wait(*b.on_device->ready);
  stream->copy(bytes.data(), v.data, bytes.size(), Copy::kToHost, "test");
  stream->synchronize();
  return bytes;
}

inline Ref add_cast(Graph& g, DeviceKind device, const char* dtype, Ref in) {
  return {g.add({.op = "cast",
                 .device = device,
                 .arguments = {{"dtype", std::string(dtype)}},
                 .inputs = {in}}),
          0};
}

// Files of different sizes, cast to int16 and float16 on `device`. Outputs: the labels and, twice,
// the values.
inline Graph device_graph(const SampleFolder& folder, DeviceKind device) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const int up = g.add({.op = "copy", .device = device, .inputs = {Ref{files, 0}}});
  const Ref half = add_cast(g, device, "float16", add_cast(g, device, "int16", {up, 0}));
  g.outputs = {{files, 1}, half, half};
  return g;
}

struct Given {
  // All bytes of each, the message of a failed step, or what was wrong with a dropped one.
  std::vector<std::string> samples;
  int64_t failures = 0;
  bool operator==(const Given&) const = default;
};

inline Given run(Pipeline& p, int steps) {
  Given r;
  for (int s = 0; s < steps; ++s) {
    try {
      const Outputs out = *p.run();
      if (out.is_lost) {
        std::string& all = r.samples.emplace_back("dropped");
        for (const SampleFailure& f : out.failures) all += ": " + f.message;
        continue;
      }
      for (size_t i = 0; i < out.batches[0].samples.size(); ++i) {
        std::string& all = r.samples.emplace_back();
        for (const Batch& b : out.batches) {
          EXPECT_EQ(b.samples.size(), out.batches[0].samples.size());
          all += b.samples[i].view.shape.str() + on_host(b, i);
        }
      }
    } catch (const BatchError& e) {
      r.samples.emplace_back(e.what());
    }
  }
  r.failures = p.stats().failures;
  return r;
}
inline Given run(const Graph& g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  return run(p, steps);
}

// Runs on a simulated device, or on a GPU if STOKER_REQUIRE_GPU is 1.
class OnDevice : public testing::Test {
 protected:
  static Device& device() { return stoker::device(0); }
  void SetUp() override {
    if (!wants_gpu()) use_simulated_devices(1);
  }
  void TearDown() override {
    if (!wants_gpu()) use_simulated_devices(0);
  }

 private:
  static bool wants_gpu() {
    const char* text = std::getenv("STOKER_REQUIRE_GPU");
    return text && std::string(text) == "1";
  }
};

// For tests that need faults, delays or the virtual clock.
class OnSimulatedDevice : public testing::Test {
 protected:
  static SimulatedDevice& device() { return dynamic_cast<SimulatedDevice&>(stoker::device(0)); }
  void SetUp() override { use_simulated_devices(1); }
  void TearDown() override { use_simulated_devices(0); }

  // Begins with a new device that delays every `stride`-th copy and launch.
  static void use_delayed_device(int64_t stride) {
    use_simulated_devices(1);
    for (int64_t n = 1; n < 200; n += stride)
      for (const DeviceCall what : {DeviceCall::kCopy, DeviceCall::kLaunch})
        device().delay(what, n, 1000, std::chrono::microseconds(200 * stride));
  }
  // In four steps of `g`, another call of the device fails each time, up to the `last` one. They
  // give batches or an error that names the device. Then all memory is free, and the next run is
  // right.
  static void expect_faults_are_raised(const Graph& g, const Given& want, int64_t last,
                                       int64_t stride) {
    for (const char* executor : {"simple", "pipelined"})
      for (const DeviceCall what : {DeviceCall::kAllocate, DeviceCall::kCopy, DeviceCall::kLaunch})
        for (int64_t nth = 1; nth < last; nth += stride) {
          use_simulated_devices(1);
          device().fail(what, nth);
          Pipeline p(g, options(executor));
          try {
            (void)run(p, 4);
          } catch (const DeviceError& e) {
            EXPECT_NE(std::string(e.what()).find("simulated:0"), std::string::npos) << e.what();
          }
          p.stop();
          EXPECT_EQ(device().usage().in_use, 0u) << static_cast<int>(what) << " " << nth;
          EXPECT_EQ(p.stats().batches.in_use, 0u);
          use_simulated_devices(1);
          EXPECT_EQ(run(g, options(executor), 4), want) << "after it";
        }
  }
};

}  // namespace stoker
