// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Conditionals: what runs of each kind of stage for a sample in a branch, under all settings,
// failures, delays and faults.
#include "run/device/testing.h"

namespace stoker {
namespace {

using Guards = OnDevice;
using GuardsOnSimulated = OnSimulatedDevice;

// Doubles numbers, and counts its calls and their samples.
class GuardedDoubles final : public UserFunction {
 public:
  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) override {
    ++calls;
    EXPECT_EQ(static_cast<int64_t>(inputs[0].samples.size()), count);
    const auto out = std::make_shared<std::vector<int32_t>>();
    for (const View& v : inputs[0].samples) out->push_back(2 * *v.as<int32_t>());
    HostBatch batch{{}, out};
    for (int32_t& v : *out) batch.samples.push_back(View::dense(&v, DType::kInt32, {}));
    return {std::move(batch)};
  }
  std::atomic<int> calls = 0;
};

size_t guarded_size(int i) { return static_cast<size_t>(2 + 3 * (i % 5)); }

// Files of different sizes, and a coin for each. Heads: the bytes of the next file with heads, by
// an operator that sees the whole batch. Tails: the label doubled by a function of the user's.
// Outputs: the label, the coin, the bytes as int16, and the doubled label or -1.
Graph guarded_graph(const SampleFolder& folder, DeviceKind device, double probability = 0.5,
                    std::shared_ptr<GuardedDoubles> function = std::make_shared<GuardedDoubles>()) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const Ref label{files, 1};
  const Ref coin{g.add({.op = "random.coin_flip", .arguments = {{"probability", probability}}}), 0};
  const Ref narrow = add_cast(g, device, "int16", {files, 0});
  const Ref next{g.add({.op = "test.next_sample",
                        .device = device,
                        .inputs = {narrow},
                        .guards = {{coin, true}}}),
                 0};
  const Ref wide = add_cast(g, device, "int32", next);  // in the branch, as its input is
  const Ref again = add_cast(g, device, "int16", wide);
  const Ref bytes{g.add({.op = "merge", .device = device, .inputs = {again, narrow, coin}}), 0};
  const Ref twice{g.add({.op = "test.call",
                         .inputs = {label},
                         .guards = {{coin, false}},
                         .function = std::move(function)}),
                  0};
  const Ref minus_one{g.add({.op = "constant",
                             .arguments = {{"idata", std::vector<int64_t>{-1}},
                                           {"shape", std::vector<int64_t>{}},
                                           {"dtype", std::string("int32")}}}),
                      0};
  const Ref number{g.add({.op = "merge", .inputs = {minus_one, twice, coin}}), 0};
  g.outputs = {label, coin, bytes, number};
  return g;
}

int32_t number(const Outputs& out, size_t output, size_t i) {
  int32_t x;
  std::memcpy(&x, on_host(out.batches[output], i).data(), sizeof x);
  return x;
}

void expect_as_the_coins_say(const Outputs& out) {
  std::vector<int32_t> heads;
  const size_t count = out.batches[0].samples.size();
  for (size_t i = 0; i < count; ++i)
    if (number(out, 1, i)) heads.push_back(label(out, i));
  for (size_t i = 0, head = 0; i < count; ++i) {
    const bool is_head = number(out, 1, i);
    const int32_t of = is_head ? heads[++head % heads.size()] : label(out, i);
    const std::string bytes = on_host(out.batches[2], i);
    EXPECT_EQ(bytes.size(), 2 * guarded_size(of));
    EXPECT_EQ(bytes[0], static_cast<char>(of));
    EXPECT_EQ(number(out, 3, i), is_head ? -1 : 2 * label(out, i));
  }
}

TEST_F(Guards, EachSampleGoesItsWayUnderAllSettings) {
  const SampleFolder folder(23, guarded_size);
  for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu})
    for (const int batch_size : {1, 7}) {
      Given want;
      for (const char* executor : {"simple", "pipelined"})
        for (const int threads : {1, 3})
          for (const int depth : {1, 4}) {
            PipelineOptions o = options(executor);
            o.batch_size = batch_size;
            o.num_threads = threads;
            o.prefetch_queue_depth = depth;
            Pipeline p(guarded_graph(folder, device), o);
            for (int s = 0; s < 6; ++s) expect_as_the_coins_say(*p.run());
            const Given got = run(guarded_graph(folder, device), o, 8);
            if (want.samples.empty()) want = got;
            EXPECT_EQ(got, want) << executor << batch_size << threads << depth;
          }
    }
}

TEST_F(Guards, NothingIsCalledForNoSample) {
  const SampleFolder folder(16, guarded_size);
  for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu})
    for (const char* executor : {"simple", "pipelined"})
      for (const double probability : {0.0, 1.0}) {
        const auto function = std::make_shared<GuardedDoubles>();
        Pipeline p(guarded_graph(folder, device, probability, function), options(executor));
        for (int s = 0; s < 4; ++s) expect_as_the_coins_say(*p.run());
        p.stop();
        EXPECT_EQ(function->calls == 0, probability == 1.0);
      }
}

TEST_F(Guards, LostSamplesAreNoneOfTheBranch) {
  const SampleFolder folder(16, guarded_size);
  std::filesystem::remove(folder.path(5));
  for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu})
    for (const char* on_error : {"skip", "raise", "replace"}) {
      Given want;
      for (const char* executor : {"simple", "pipelined"}) {
        int lost = 0;
        Pipeline p(guarded_graph(folder, device), options(executor, on_error));
        for (int s = 0; s < 8; ++s) try {
            expect_as_the_coins_say(*p.run());
          } catch (const BatchError&) {
            ++lost;
          }
        EXPECT_EQ(lost > 0, on_error == std::string("raise"));
        const Given got = run(guarded_graph(folder, device), options(executor, on_error), 8);
        if (want.samples.empty()) want = got;
        EXPECT_EQ(got, want) << executor << on_error;
      }
    }
}

// Only the device can make the condition: the coin of the next sample, which another operator on
// the device reads. If it is true, the label goes to the device and back.
TEST_F(Guards, ConditionsAndValuesOfBranchesAreCopiedToTheHost) {
  const SampleFolder folder(16, guarded_size);
  for (const double probability : {0.0, 0.5, 1.0}) {
    Graph g;
    const Ref label{add_shuffled_files(g, folder), 1};
    const Ref coin{g.add({.op = "random.coin_flip", .arguments = {{"probability", probability}}}),
                   0};
    const DeviceKind gpu = DeviceKind::kGpu;
    const Ref next{g.add({.op = "test.next_sample", .device = gpu, .inputs = {coin}}), 0};
    const Ref condition = add_cast(g, gpu, "int16", next);
    const Ref same = add_cast(g, gpu, "int32", condition);
    const Ref there{g.add({.op = "copy", .inputs = {label}, .guards = {{condition, true}}}), 0};
    const Ref up{g.add({.op = "copy", .device = gpu, .inputs = {there}}), 0};
    const Ref back = add_cast(g, DeviceKind::kCpu, "int32", up);
    const Ref merged{g.add({.op = "merge", .inputs = {back, label, condition}}), 0};
    g.outputs = {label, coin, same, merged, merged};
    for (const char* executor : {"simple", "pipelined"}) {
      Pipeline p(g, options(executor));
      for (int s = 0; s < 6; ++s) {
        const Outputs out = *p.run();
        const size_t count = out.batches[0].samples.size();
        for (size_t i = 0; i < count; ++i) {
          EXPECT_EQ(number(out, 2, i), number(out, 1, (i + 1) % count));
          for (const size_t output : {3, 4}) EXPECT_EQ(number(out, output, i), number(out, 0, i));
          EXPECT_NE(out.batches[3].samples[i].view.data, out.batches[4].samples[i].view.data);
        }
      }
    }
  }
}

TEST_F(Guards, SavedGraphsHaveThem) {
  const SampleFolder folder(8, guarded_size);
  Graph g = guarded_graph(folder, DeviceKind::kGpu);
  g.outputs.pop_back();  // what a function of the user's makes
  std::string settings;
  EXPECT_EQ(run(load_graph(save_graph(g, "{}"), settings), options("pipelined"), 4),
            run(g, options("simple"), 4));
}

TEST_F(GuardsOnSimulated, DelaysChangeNothing) {
  const SampleFolder folder(16, guarded_size);
  const Graph g = guarded_graph(folder, DeviceKind::kGpu);
  const Given want = run(g, options("simple"), 6);
  for (const int64_t stride : {1, 3, 5}) {
    use_delayed_device(stride);
    EXPECT_EQ(run(g, options("pipelined"), 6), want) << stride;
  }
}

TEST_F(GuardsOnSimulated, FaultsAreRaisedAndNothingLeaks) {
  const SampleFolder folder(16, guarded_size);
  const Graph g = guarded_graph(folder, DeviceKind::kGpu);
  expect_faults_are_raised(g, run(g, options("simple"), 4), 60, 7);
}

}  // namespace
}  // namespace stoker
