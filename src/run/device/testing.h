// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests of the device stage share: settings, a graph, fixtures, and how to read a sample.
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

// The bytes of sample i, copied to the host if they are on a device.
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

// Files of different sizes, cast to int16 and float16 on `device`. The outputs are the labels and,
// twice, the values.
inline Graph device_graph(const SampleFolder& folder, DeviceKind device) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const int up = g.add({.op = "copy", .device = device, .inputs = {Ref{files, 0}}});
  const int wide = g.add({.op = "cast",
                          .device = device,
                          .arguments = {{"dtype", std::string("int16")}},
                          .inputs = {Ref{up, 0}}});
  const int half = g.add({.op = "cast",
                          .device = device,
                          .arguments = {{"dtype", std::string("float16")}},
                          .inputs = {Ref{wide, 0}}});
  g.outputs = {{files, 1}, {half, 0}, {half, 0}};
  return g;
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
};

}  // namespace stoker
