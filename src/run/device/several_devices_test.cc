// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Of several pipelines in a process, each uses its own device, whose failure affects no other.
#include <thread>

#include "run/device/testing.h"

namespace stoker {
namespace {

class SeveralDevices : public testing::Test {
 protected:
  static constexpr int kDevices = 3;
  static SimulatedDevice& at(int i) { return dynamic_cast<SimulatedDevice&>(stoker::device(i)); }
  void SetUp() override { use_simulated_devices(kDevices); }
  void TearDown() override { use_simulated_devices(0); }
  Graph graph(int shard) const {
    Graph g = device_graph(folder_, DeviceKind::kGpu);
    g.nodes[0].arguments["shard_id"] = int64_t{shard};
    g.nodes[0].arguments["num_shards"] = int64_t{kDevices};
    g.outputs.emplace_back(g.outputs[1], true);
    return g;
  }
  static PipelineOptions on(int device) {
    PipelineOptions o = options("pipelined");
    o.device_id = device;
    return o;
  }
  static std::vector<std::string> steps(Pipeline& p, int count) {
    std::vector<std::string> all;
    for (int s = 0; s < count; ++s) {
      const Outputs out = *p.run();
      for (const Batch& b : out.batches)
        for (size_t i = 0; i < b.samples.size(); ++i) all.push_back(on_host(b, i));
    }
    return all;
  }

  SampleFolder folder_{31, [](int i) { return size_t(50 + 70 * i); }};
};

TEST_F(SeveralDevices, RunSideBySideAndDoNotDependOnWhichDeviceItIs) {
  std::vector<std::vector<std::string>> want, got(kDevices);
  for (int i = 0; i < kDevices; ++i) {
    Pipeline p(graph(i), on(0));
    want.push_back(steps(p, 8));
  }
  use_simulated_devices(kDevices);
  std::vector<std::thread> threads;
  for (int i = 0; i < kDevices; ++i)
    threads.emplace_back([&, i] {
      Pipeline p(graph(i), on(i));
      got[i] = steps(p, 8);
      EXPECT_GT(at(i).usage().high_water, 0u);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(got, want);
  for (int i = 0; i < kDevices; ++i) EXPECT_EQ(at(i).usage().in_use, 0u) << i;
}

TEST_F(SeveralDevices, OneThreadMayTurnThemInTurn) {
  std::vector<std::unique_ptr<Pipeline>> pipelines;
  for (int i = 0; i < kDevices; ++i)
    pipelines.push_back(std::make_unique<Pipeline>(graph(i), on(i)));
  std::vector<std::vector<Outputs>> held(kDevices);
  for (int s = 0; s < 4; ++s)
    for (int i = 0; i < kDevices; ++i) held[i].push_back(*pipelines[i]->run());
  for (int i = 0; i < kDevices; ++i)
    for (const Outputs& out : held[i]) {
      EXPECT_EQ(out.batches[1].on_device->device, &at(i));
      EXPECT_EQ(on_host(out.batches[1], 3), on_host(out.batches[3], 3));
    }
}

TEST_F(SeveralDevices, AFailureOrAFullDeviceIsNothingToTheOthers) {
  at(1).fail(DeviceCall::kLaunch, 1);
  Pipeline first(graph(0), on(0)), second(graph(1), on(1)), third(graph(2), on(2));
  EXPECT_THROW(
      {
        const Outputs out = *second.run();
        (void)on_host(out.batches[1], 0);
      },
      DeviceError);
  EXPECT_EQ(steps(first, 4).size(), 4u * 4 * 4);

  PipelineOptions little = on(2);
  little.device_memory_limit = 100;
  Pipeline starved(graph(2), little);
  EXPECT_THROW((void)starved.run(), BudgetError);
  EXPECT_EQ(steps(third, 4).size(), 4u * 4 * 4) << "the limit is of one pipeline";
  EXPECT_EQ(steps(second, 4).size(), 4u * 4 * 4) << "it goes on";
}

}  // namespace
}  // namespace stoker
