// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that see whole batches, on the CPU and on a device: all executors and settings give
// what the batches say, also under faults and with little memory.
#include <random>

#include "run/device/testing.h"

namespace stoker {
namespace {

using Batches = OnDevice;
using BatchesOnSimulated = OnSimulatedDevice;

// Files of different sizes. Outputs: labels, the next sample's bytes as int16, how many samples the
// operator saw, these bytes as int32, and four of them by a slice that fails if there are fewer.
Graph paired_graph(const SampleFolder& folder, DeviceKind device) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const Ref narrow = add_cast(g, device, "int16", {files, 0});
  const int next = g.add({.op = "test.next_sample", .device = device, .inputs = {narrow}});
  const Ref wide = add_cast(g, device, "int32", {next, 0});
  const int slice = g.add({.op = "slice",
                           .device = device,
                           .arguments = {{"axes", std::vector<int64_t>{0}},
                                         {"start", std::vector<int64_t>{0}},
                                         {"shape", std::vector<int64_t>{4}}},
                           .inputs = {wide}});
  g.outputs = {{files, 1}, {next, 0}, {next, 1}, wide, {slice, 0}};
  return g;
}

size_t size_of_file(int i) { return static_cast<size_t>(2 + 3 * i); }

// A sample's label, that of the sample that it was given, and how many samples the operator saw.
struct Pair {
  int32_t label, next, count;
  bool operator==(const Pair&) const = default;
};
using Steps = std::vector<std::vector<Pair>>;

// An empty step is one that was lost.
Steps pairs(Pipeline& p, int steps) {
  Steps all;
  for (int s = 0; s < steps; ++s) {
    auto& list = all.emplace_back();
    try {
      const Outputs out = *p.run();
      for (size_t i = 0; i < out.batches[0].samples.size(); ++i) {
        const std::string bytes = on_host(out.batches[1], i);
        const int next = static_cast<unsigned char>(bytes[0]);
        EXPECT_EQ(bytes.size(), 2 * size_of_file(next));
        EXPECT_EQ(on_host(out.batches[3], i).size(), 4 * size_of_file(next));
        EXPECT_EQ(on_host(out.batches[4], i).size(), 16u);
        int32_t count;
        std::memcpy(&count, on_host(out.batches[2], i).data(), sizeof count);
        list.push_back({label(out, i), next, count});
      }
    } catch (const BatchError&) {
    }
  }
  return all;
}
Steps pairs(const Graph& g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  return pairs(p, steps);
}

// What the steps must be, by the labels alone. `bad`: files that cannot be read. A sample whose
// next one is shorter than four values fails behind the batch.
Steps expected(const SampleFolder& folder, const std::string& on_error, int64_t batch_size,
               int steps, const std::set<int>& bad = {}) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  g.outputs = {{files, 1}};
  PipelineOptions o = options("simple");
  o.batch_size = batch_size;
  Steps all;
  // Labels without the bytes, of files that all are there.
  Pipeline p(g, o);
  for (int s = 0; s < steps; ++s) {
    std::vector<int32_t> seen;
    for (const int32_t l : labels(*p.run()))
      if (!bad.contains(l)) seen.push_back(l);
    auto& list = all.emplace_back();
    const bool is_lost = on_error == "raise" && static_cast<int64_t>(seen.size()) < batch_size;
    if (is_lost) continue;
    for (size_t i = 0; i < seen.size(); ++i) {
      const int32_t next = seen[(i + 1) % seen.size()];
      if (size_of_file(next) >= 4)
        list.push_back({seen[i], next, static_cast<int32_t>(seen.size())});
    }
    if (on_error == "raise" && list.size() < seen.size()) list.clear();
  }
  return all;
}

TEST_F(Batches, GiveWhatTheBatchSaysUnderAllSettings) {
  const SampleFolder folder(23, size_of_file);
  for (const std::string on_error : {"raise", "skip"})
    for (const int batch_size : {1, 4, 7}) {
      const Steps want = expected(folder, on_error, batch_size, 8);
      for (const char* executor : {"simple", "pipelined"})
        for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu})
          for (const int threads : {1, 3})
            for (const int depth : {1, 4}) {
              PipelineOptions o = options(executor, on_error.c_str());
              o.batch_size = batch_size;
              o.num_threads = threads;
              o.prefetch_queue_depth = depth;
              EXPECT_EQ(pairs(paired_graph(folder, device), o, 8), want)
                  << executor << on_error << batch_size << threads << depth;
            }
    }
}

TEST_F(Batches, SeeTheSamplesMadeSoFar) {
  const SampleFolder folder(16, size_of_file);
  const Steps skip = expected(folder, "skip", 4, 6, {5}),
              raise = expected(folder, "raise", 4, 6, {5});
  std::filesystem::remove(folder.path(5));
  for (const char* executor : {"simple", "pipelined"})
    for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
      EXPECT_EQ(pairs(paired_graph(folder, device), options(executor, "skip"), 6), skip);
      EXPECT_EQ(pairs(paired_graph(folder, device), options(executor, "raise"), 6), raise);
    }
}

// A sample that is replaced before the batch belongs to it; behind it, nothing is replaced.
TEST_F(Batches, ReplaceBeforeTheBatchAndLoseTheStepBehindIt) {
  const SampleFolder folder(16, size_of_file);
  std::filesystem::remove(folder.path(5));
  Steps want;
  for (const char* executor : {"simple", "pipelined"})
    for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
      Pipeline p(paired_graph(folder, device), options(executor, "replace"));
      const Steps got = pairs(p, 8);
      if (want.empty()) want = got;
      EXPECT_EQ(got, want) << executor;
      int64_t lost = 0;
      for (const auto& step : got) {
        lost += step.empty();
        for (const Pair& pair : step) EXPECT_EQ(pair.count, 4);
      }
      EXPECT_GT(lost, 0);
      EXPECT_LT(lost, 8);
    }
}

Graph failing_graph(const SampleFolder& folder, DeviceKind device) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const int fails = g.add({.op = "random.coin_flip",
                           .arguments = {{"probability", 0.15}, {"dtype", std::string("bool")}}});
  const int next = g.add({.op = "test.next_sample",
                          .device = device,
                          .inputs = {Ref{files, 0}},
                          .links = {{"fail", Ref{fails, 0}}}});
  g.outputs = {{files, 1}, {fails, 0}, {next, 0}};
  return g;
}

TEST_F(Batches, AFailureInsideLosesTheStep) {
  const SampleFolder folder(16, size_of_file);
  for (const char* on_error : {"raise", "skip", "replace"})
    for (const char* executor : {"simple", "pipelined"})
      for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
        Pipeline p(failing_graph(folder, device), options(executor, on_error));
        int lost = 0;
        for (int s = 0; s < 12; ++s) try {
            const Outputs out = *p.run();
            ASSERT_EQ(out.batches[1].samples.size(), 4u);
            for (size_t i = 0; i < 4; ++i)
              EXPECT_EQ(*out.batches[1].samples[i].view.as<bool>(), false);
          } catch (const BatchError& e) {
            ++lost;
            ASSERT_EQ(e.samples.size(), 1u) << e.what();
            EXPECT_EQ(e.samples[0].in_batch, -1);
            EXPECT_EQ(e.samples[0].op, "test.next_sample");
            const std::string what = e.what();
            EXPECT_NE(what.find("4 of 4 samples could not be made"), std::string::npos) << what;
            EXPECT_NE(what.find("the batch"), std::string::npos) << what;
            EXPECT_NE(what.find("fails"), std::string::npos) << what;
          }
        EXPECT_GT(lost, 0);
        EXPECT_LT(lost, 12);
        EXPECT_EQ(p.stats().failures, lost);
        EXPECT_TRUE(p.quarantine().empty());
      }
}

TEST_F(Batches, AFailureInsideDropsTheStepAndIsNoted) {
  const SampleFolder folder(16, size_of_file);
  const auto raising = [&] {
    Pipeline p(failing_graph(folder, DeviceKind::kCpu), options("simple", "skip"));
    std::vector<bool> lost(12);
    for (size_t s = 0; s < 12; ++s) try {
        (void)p.run();
      } catch (const BatchError&) {
        lost[s] = true;
      }
    return lost;
  };
  const std::vector<bool> want = raising();
  const auto lost = std::count(want.begin(), want.end(), true);
  for (const char* executor : {"simple", "pipelined"})
    for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
      Pipeline p(failing_graph(folder, device), options(executor, "drop"));
      for (size_t s = 0; s < 12; ++s) EXPECT_EQ(p.run()->is_lost, want[s]);
      EXPECT_EQ(p.stats().dropped, lost);
      const auto noted = p.quarantine();
      ASSERT_EQ(noted.size(), 1u);
      EXPECT_EQ(noted[0].last.in_batch, -1);
      EXPECT_EQ(noted[0].last.op, "test.next_sample");
      EXPECT_EQ(noted[0].times, lost);
    }
}

// Its stages go up and down: batches on the CPU of what a device makes, and the reverse.
Graph mixed_graph(const SampleFolder& folder, bool on_device) {
  const DeviceKind device = on_device ? DeviceKind::kGpu : DeviceKind::kCpu;
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const auto next = [&](DeviceKind where, Ref in) {
    return Ref{g.add({.op = "test.next_sample", .device = where, .inputs = {in}}), 0};
  };
  const Ref a = next(device, add_cast(g, device, "int16", {files, 0}));
  const Ref b = next(DeviceKind::kCpu, add_cast(g, device, "float32", a));
  const Ref c = next(device, add_cast(g, DeviceKind::kCpu, "int32", b));
  const Ref d = next(DeviceKind::kCpu, next(device, next(DeviceKind::kCpu, {files, 1})));
  const Ref draw{g.add({.op = "random.uniform", .links = {{"values", c}}}), 0};
  g.outputs = {{files, 1}, a, b, c, d, {c, true}, c, {c, true}, draw};
  return g;
}

TEST_F(Batches, GoUpAndDownSeveralTimes) {
  const SampleFolder folder(16, size_of_file);
  const auto want = run(mixed_graph(folder, false), options("simple"), 6);
  EXPECT_EQ(want.failures, 0);
  for (const char* executor : {"simple", "pipelined"})
    for (const bool on_device : {false, true})
      EXPECT_EQ(run(mixed_graph(folder, on_device), options(executor), 6), want) << executor;
}

TEST_F(Batches, SkippedSamplesOnTheWayLeaveNoGap) {
  const SampleFolder folder(16, size_of_file);
  std::filesystem::remove(folder.path(5));
  const auto want = run(mixed_graph(folder, false), options("simple", "skip"), 6);
  for (const char* executor : {"simple", "pipelined"})
    for (const bool on_device : {false, true})
      EXPECT_EQ(run(mixed_graph(folder, on_device), options(executor, "skip"), 6), want);
}

TEST_F(BatchesOnSimulated, DelaysChangeNothing) {
  const SampleFolder folder(16, size_of_file);
  std::filesystem::remove(folder.path(5));
  const auto want = run(mixed_graph(folder, false), options("simple", "skip"), 8);
  for (const int64_t stride : {2, 3, 5}) {
    use_delayed_device(stride);
    EXPECT_EQ(run(mixed_graph(folder, true), options("pipelined", "skip"), 8), want);
  }
}

TEST_F(BatchesOnSimulated, WhatFailsIsRaisedAndNothingHangsOrLeaks) {
  const SampleFolder folder(16, size_of_file);
  const auto want = run(mixed_graph(folder, false), options("simple"), 4);
  expect_faults_are_raised(mixed_graph(folder, true), want, 60, 7);
}

TEST_F(Batches, AResumedRunGoesOnAtEveryStep) {
  const SampleFolder folder(16, size_of_file);
  const auto want = run(mixed_graph(folder, false), options("simple"), 8);
  for (int first = 0; first < 8; ++first) {
    Pipeline p(mixed_graph(folder, true), options("pipelined")),
        q(mixed_graph(folder, true), options("pipelined"));
    auto got = run(p, first);
    (void)q.restore(p.state(), false);
    for (const std::string& s : run(q, 8 - first).samples) got.samples.push_back(s);
    EXPECT_EQ(got, want) << first;
  }
}

// Too little memory is an error that names a larger limit, below which no limit would do. It knows
// nothing of later samples and stages, so several such errors may come before a limit that does.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kLimits = 60;  // a run takes up to twenty times as long
#else
constexpr int kLimits = 1000;
#endif

int64_t named_limit(const BudgetError& e) {
  const std::string what = e.what(), sign = "memory_limit to at least ";
  const size_t at = what.find(sign);
  EXPECT_NE(at, what.npos) << what;
  EXPECT_EQ(what.find("perhaps"), what.npos) << what;
  return at == what.npos ? 0 : std::stoll(what.substr(at + sign.size()));
}

TEST_F(Batches, LittleMemoryIsSaidWithALimitThatSuffices) {
  const SampleFolder folder(16, [](int i) { return size_t(2000 + 300 * i); });
  const auto want = run(mixed_graph(folder, false), options("simple"), 3);
  EXPECT_EQ(want.failures, 0);
  std::mt19937 random(1);
  int64_t raised = 0, right = 0;
  for (int n = 0; n < kLimits; ++n) {
    const Graph g = mixed_graph(folder, n % 2);
    PipelineOptions o = options(n % 4 ? "pipelined" : "simple");
    o.memory_limit = std::uniform_int_distribution<int64_t>(200 << 10, 4 << 20)(random);
    o.prefetch_queue_depth = 1 + n % 3;
    auto p = std::make_unique<Pipeline>(g, o);
    Given got;
    const auto go_on = [&] {
      const Given more = run(*p, 1);
      got.samples.insert(got.samples.end(), more.samples.begin(), more.samples.end());
      got.failures += more.failures;
    };
    for (int step = 0; step < 3; ++step) {
      try {
        go_on();
      } catch (const BudgetError& e) {
        ASSERT_GT(named_limit(e), o.memory_limit) << e.what();
        o.memory_limit = named_limit(e);
        const std::string state = p->state();
        p = std::make_unique<Pipeline>(g, o);
        (void)p->restore(state, false);
        ASSERT_NO_THROW(go_on()) << n << " " << step << ": " << e.what();
        ++raised;
      }
    }
    if (got.failures) continue;  // a sample may be too large by itself
    ASSERT_EQ(got, want) << n;
    ++right;
  }
  EXPECT_GT(raised, kLimits / 20);
  EXPECT_GT(right, kLimits / 20);
}

}  // namespace
}  // namespace stoker
