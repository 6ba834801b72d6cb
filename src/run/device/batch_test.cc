// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Stages that see whole batches: operators on the CPU and on a device, and functions of the user's.
// All executors and settings give what the batches say, also under faults and with little memory.
#include <random>

#include "run/device/testing.h"

namespace stoker {
namespace {

using Batches = OnDevice;
using BatchesOnSimulated = OnSimulatedDevice;

// Files of different sizes. Outputs: labels, the next sample's bytes as int16, how many samples the
// operator saw, and the same bytes once more through a slice that needs four of them.
Graph graph(const SampleFolder& folder, DeviceKind device, bool slices = true) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const auto cast = [&](Ref in, const char* dtype) {
    return Ref{g.add({.op = "cast",
                      .device = device,
                      .arguments = {{"dtype", std::string(dtype)}},
                      .inputs = {in}}),
               0};
  };
  const int next =
      g.add({.op = "test.next_sample", .device = device, .inputs = {cast({files, 0}, "int16")}});
  const Ref wide = cast({next, 0}, "int32");
  g.outputs = {{files, 1}, {next, 0}, {next, 1}, wide};
  if (slices)
    g.outputs.push_back({g.add({.op = "slice",
                                .device = device,
                                .arguments = {{"axes", std::vector<int64_t>{0}},
                                              {"start", std::vector<int64_t>{0}},
                                              {"shape", std::vector<int64_t>{4}}},
                                .inputs = {wide}}),
                         0});
  return g;
}

size_t size_of_file(int i) { return static_cast<size_t>(2 + 3 * i); }

// By sample of each step: its label, and the label of the sample that it was given.
struct Pair {
  int32_t label, next, count;
  bool operator==(const Pair&) const = default;
};
using Steps = std::vector<std::vector<Pair>>;

// An empty step is one that was lost.
Steps run(Pipeline& p, int steps) {
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
        for (size_t k = 4; k < out.batches.size(); ++k)
          EXPECT_EQ(on_host(out.batches[k], i).size(), 16u);
        int32_t count;
        std::memcpy(&count, on_host(out.batches[2], i).data(), sizeof count);
        list.push_back({label(out, i), next, count});
      }
    } catch (const BatchError&) {
    }
  }
  return all;
}
Steps run(const Graph& g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  return run(p, steps);
}

// What the steps must be, by the labels alone. `is_bad`: the file cannot be read. A sample whose
// next one is shorter than four values fails behind the batch.
Steps expected(const SampleFolder& folder, const std::string& on_error, int64_t batch_size,
               int steps, const std::set<int>& bad) {
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
      std::set<int> bad;
      Steps want = expected(folder, on_error, batch_size, 8, bad);
      for (const char* executor : {"simple", "pipelined"})
        for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu})
          for (const int threads : {1, 3})
            for (const int depth : {1, 4}) {
              PipelineOptions o = options(executor, on_error.c_str());
              o.batch_size = batch_size;
              o.num_threads = threads;
              o.prefetch_queue_depth = depth;
              EXPECT_EQ(run(graph(folder, device), o, 8), want)
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
      EXPECT_EQ(run(graph(folder, device), options(executor, "skip"), 6), skip);
      EXPECT_EQ(run(graph(folder, device), options(executor, "raise"), 6), raise);
    }
}

// A sample that is replaced before the batch is one of the batch; behind it, nothing is replaced.
TEST_F(Batches, ReplaceBeforeTheBatchAndLoseTheStepBehindIt) {
  const SampleFolder folder(16, size_of_file);
  std::filesystem::remove(folder.path(5));
  Steps want;
  for (const char* executor : {"simple", "pipelined"})
    for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
      Pipeline p(graph(folder, device), options(executor, "replace"));
      const Steps got = run(p, 8);
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

// A graph whose stages go up and down: batches on the CPU of what a device makes, and the reverse.
Graph mixed_graph(const SampleFolder& folder, bool on_device) {
  const DeviceKind device = on_device ? DeviceKind::kGpu : DeviceKind::kCpu;
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const auto next = [&](DeviceKind where, Ref in) {
    return Ref{g.add({.op = "test.next_sample", .device = where, .inputs = {in}}), 0};
  };
  const auto cast = [&](DeviceKind where, Ref in, const char* dtype) {
    return Ref{g.add({.op = "cast",
                      .device = where,
                      .arguments = {{"dtype", std::string(dtype)}},
                      .inputs = {in}}),
               0};
  };
  const Ref a = next(device, cast(device, {files, 0}, "int16"));
  const Ref b = next(DeviceKind::kCpu, cast(device, a, "float32"));
  const Ref c = next(device, cast(DeviceKind::kCpu, b, "int32"));
  const Ref d = next(DeviceKind::kCpu, next(device, next(DeviceKind::kCpu, {files, 1})));
  const Ref draw{g.add({.op = "random.uniform", .links = {{"values", c}}}), 0};
  g.outputs = {{files, 1}, a, b, c, d, {c, true}, c, draw};
  return g;
}

std::vector<std::string> bytes(Pipeline& p, int steps) {
  std::vector<std::string> all;
  for (int s = 0; s < steps; ++s) {
    const Outputs out = *p.run();
    for (size_t i = 0; i < out.batches[0].samples.size(); ++i) {
      std::string& sample = all.emplace_back();
      for (const Batch& b : out.batches) sample += b.samples[i].view.shape.str() + on_host(b, i);
    }
  }
  return all;
}
std::vector<std::string> bytes(const Graph& g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  return bytes(p, steps);
}

TEST_F(Batches, GoUpAndDownSeveralTimes) {
  const SampleFolder folder(16, size_of_file);
  const auto want = bytes(mixed_graph(folder, false), options("simple"), 6);
  for (const char* executor : {"simple", "pipelined"})
    for (const bool on_device : {false, true})
      EXPECT_EQ(bytes(mixed_graph(folder, on_device), options(executor), 6), want) << executor;
}

TEST_F(Batches, SkippedSamplesOnTheWayLeaveNoGap) {
  const SampleFolder folder(16, size_of_file);
  std::filesystem::remove(folder.path(5));
  const auto want = bytes(mixed_graph(folder, false), options("simple", "skip"), 6);
  for (const char* executor : {"simple", "pipelined"})
    for (const bool on_device : {false, true})
      EXPECT_EQ(bytes(mixed_graph(folder, on_device), options(executor, "skip"), 6), want);
}

TEST_F(BatchesOnSimulated, DelaysChangeNothing) {
  const SampleFolder folder(16, size_of_file);
  std::filesystem::remove(folder.path(5));
  const auto want = bytes(mixed_graph(folder, false), options("simple", "skip"), 8);
  for (const int64_t step : {2, 3, 5}) {
    use_simulated_devices(1);
    for (int64_t n = 1; n < 200; n += step)
      for (const DeviceCall what : {DeviceCall::kCopy, DeviceCall::kLaunch})
        device().delay(what, n, 1000, std::chrono::microseconds(200 * step));
    EXPECT_EQ(bytes(mixed_graph(folder, true), options("pipelined", "skip"), 8), want);
  }
}

TEST_F(BatchesOnSimulated, WhatFailsIsRaisedAndNothingHangsOrLeaks) {
  const SampleFolder folder(16, size_of_file);
  const auto want = bytes(mixed_graph(folder, false), options("simple"), 4);
  for (const char* executor : {"simple", "pipelined"})
    for (const DeviceCall what : {DeviceCall::kAllocate, DeviceCall::kCopy, DeviceCall::kLaunch})
      for (int64_t nth = 1; nth < 60; nth += 7) {
        use_simulated_devices(1);
        device().fail(what, nth);
        Pipeline p(mixed_graph(folder, true), options(executor));
        try {
          (void)bytes(p, 4);
        } catch (const DeviceError& e) {
          EXPECT_NE(std::string(e.what()).find("simulated:0"), std::string::npos) << e.what();
        }
        p.stop();
        EXPECT_EQ(device().usage().in_use, 0u) << static_cast<int>(what) << " " << nth;
        EXPECT_EQ(p.stats().batches.in_use, 0u);
        use_simulated_devices(1);
        EXPECT_EQ(bytes(mixed_graph(folder, true), options(executor), 4), want) << "after it";
      }
}

TEST_F(Batches, AResumedRunGoesOnAtEveryStep) {
  const SampleFolder folder(16, size_of_file);
  const auto want = bytes(mixed_graph(folder, false), options("simple"), 8);
  for (int first = 0; first < 8; ++first) {
    Pipeline p(mixed_graph(folder, true), options("pipelined")),
        q(mixed_graph(folder, true), options("pipelined"));
    auto got = bytes(p, first);
    (void)q.restore(p.state(), false);
    for (const std::string& s : bytes(q, 8 - first)) got.push_back(s);
    EXPECT_EQ(got, want) << first;
  }
}

// Little memory gives the right samples or an error that says which limit would do, and then that
// one does, perhaps after telling of a later stage.
TEST_F(Batches, LittleMemoryChangesNothingOrIsSaid) {
  const SampleFolder folder(16, [](int i) { return size_t(2000 + 300 * i); });
  const auto want = bytes(mixed_graph(folder, false), options("simple"), 3);
  std::mt19937 random(1);
  int64_t raised = 0;
  for (int n = 0; n < 1000; ++n) {
    PipelineOptions o = options(n % 4 ? "pipelined" : "simple");
    o.memory_limit = std::uniform_int_distribution<int64_t>(200 << 10, 4 << 20)(random);
    o.prefetch_queue_depth = 1 + n % 3;
    Pipeline p(mixed_graph(folder, n % 2), o);
    std::vector<std::string> got;
    try {
      got = bytes(p, 3);
    } catch (const BudgetError& e) {
      ++raised;
      const std::string what = e.what(), sign = "memory_limit to at least ";
      ASSERT_NE(what.find(sign), std::string::npos) << what;
      EXPECT_GT(std::stoll(what.substr(what.find(sign) + sign.size())), o.memory_limit) << what;
      continue;
    } catch (const BatchError& e) {  // a sample that is too large by itself
      ++raised;
      continue;
    }
    ASSERT_EQ(got, want) << n;
  }
  EXPECT_GT(raised, 50);
  EXPECT_LT(raised, 950);
}

// Functions of the user's.

using Calls = std::vector<std::vector<int32_t>>;  // the values of the first input, by call

class Doubles final : public UserFunction {
 public:
  explicit Doubles(bool is_stateful = false) : is_stateful_(is_stateful) {}
  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) override {
    char name[16] = {};
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    const MutexLock lock(mutex_);
    threads_.insert(name);
    auto& values = calls_.emplace_back();
    for (const View& v : inputs[0].samples) values.push_back(*v.as<int32_t>());
    EXPECT_EQ(static_cast<int64_t>(values.size()), count);
    const auto out = std::make_shared<std::vector<int32_t>>();
    for (const int32_t v : values) out->push_back(2 * v);
    HostBatch batch{{}, out};
    for (int32_t& v : *out) batch.samples.push_back(View::dense(&v, DType::kInt32, {}));
    return {std::move(batch)};
  }
  bool is_stateful() const override { return is_stateful_; }
  Calls calls() const {
    const MutexLock lock(mutex_);
    return calls_;
  }
  std::set<std::string> threads() const {
    const MutexLock lock(mutex_);
    return threads_;
  }

 private:
  const bool is_stateful_;
  mutable Mutex mutex_;
  Calls calls_ STOKER_GUARDED_BY(mutex_);
  std::set<std::string> threads_ STOKER_GUARDED_BY(mutex_);
};

// Labels, their doubles, and on `device` what the doubles become.
Graph calling_graph(const SampleFolder& folder, const std::shared_ptr<UserFunction>& function,
                    DeviceKind device = DeviceKind::kCpu) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const int call = g.add({.op = "test.call", .inputs = {Ref{files, 1}}, .function = function});
  const int half = g.add({.op = "cast",
                          .device = device,
                          .arguments = {{"dtype", std::string("int16")}},
                          .inputs = {Ref{call, 0}}});
  g.outputs = {{files, 1}, {call, 0}, {half, 0}, {files, 0}};
  return g;
}

void expect_doubles(const Outputs& out) {
  for (size_t i = 0; i < out.batches[0].samples.size(); ++i) {
    int16_t half;
    std::memcpy(&half, on_host(out.batches[2], i).data(), sizeof half);
    EXPECT_EQ(*out.batches[1].samples[i].view.as<int32_t>(), 2 * label(out, i));
    EXPECT_EQ(half, 2 * label(out, i));
  }
}

TEST_F(Batches, FunctionsAreCalledInOrderOnOneThread) {
  const SampleFolder folder(16);
  for (const char* executor : {"simple", "pipelined"})
    for (const bool is_stateful : {false, true})
      for (const DeviceKind device : {DeviceKind::kCpu, DeviceKind::kGpu}) {
        const auto function = std::make_shared<Doubles>(is_stateful);
        PipelineOptions o = options(executor);
        o.num_threads = 3;
        Pipeline p(calling_graph(folder, function, device), o);
        Calls want;
        for (int s = 0; s < 10; ++s) {
          const Outputs out = *p.run();
          expect_doubles(out);
          want.push_back(labels(out));
        }
        EXPECT_LE(function->calls().size(), is_stateful ? 11u : 13u);
        p.stop();
        Calls calls = function->calls();
        ASSERT_GE(calls.size(), want.size());
        calls.resize(want.size());
        EXPECT_EQ(calls, want);
        const bool is_pipelined = executor == std::string("pipelined");
        EXPECT_EQ(function->threads() == std::set<std::string>{"stoker-python"}, is_pipelined);
      }
}

TEST_F(Batches, FunctionsSeeTheSamplesThatAreLeft) {
  const SampleFolder folder(16);
  std::filesystem::remove(folder.path(5));
  for (const char* executor : {"simple", "pipelined"})
    for (const char* on_error : {"skip", "raise"}) {
      const auto function = std::make_shared<Doubles>();
      Pipeline p(calling_graph(folder, function), options(executor, on_error));
      int lost = 0;
      for (int s = 0; s < 4; ++s) try {
          expect_doubles(*p.run());
        } catch (const BatchError&) {
          ++lost;
        }
      EXPECT_EQ(lost, on_error == std::string("raise"));
      p.stop();
      for (const auto& call : function->calls()) EXPECT_GE(call.size(), lost ? 4u : 3u);
    }
}

class Fails final : public UserFunction {
 public:
  enum What { kSampleError, kBug, kFewSamples, kNoBatch, kWrongType };
  explicit Fails(What what) : what_(what) {}
  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t) override {
    if (what_ == kSampleError) throw SampleError("ZeroDivisionError: division by zero");
    if (what_ == kBug) throw std::logic_error("a bug");
    if (what_ == kNoBatch) return {};
    HostBatch& first = inputs[0];
    if (what_ == kFewSamples) first.samples.pop_back();
    for (View& v : first.samples)
      if (what_ == kWrongType) v.dtype = DType::kFloat32;
    return inputs;
  }

 private:
  const What what_;
};

TEST_F(Batches, WhatAFunctionDoesWrongLosesTheStep) {
  const SampleFolder folder(16);
  const std::pair<Fails::What, std::string> kinds[] = {
      {Fails::kSampleError, "ZeroDivisionError: division by zero"},
      {Fails::kFewSamples, "returned 3 samples, expected 4"},
      {Fails::kNoBatch, "returned 0 batches, expected 1"},
      {Fails::kWrongType, "float32"}};
  for (const char* executor : {"simple", "pipelined"})
    for (const auto& [kind, words] : kinds) {
      Pipeline p(calling_graph(folder, std::make_shared<Fails>(kind)), options(executor, "skip"));
      for (int s = 0; s < 3; ++s) try {
          (void)p.run();
          FAIL() << words;
        } catch (const BatchError& e) {
          EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
          EXPECT_NE(std::string(e.what()).find("test.call"), std::string::npos) << e.what();
        }
    }
}

TEST_F(Batches, ABugInAFunctionEndsTheRun) {
  const SampleFolder folder(16);
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(calling_graph(folder, std::make_shared<Fails>(Fails::kBug)), options(executor));
    for (int s = 0; s < 2; ++s) EXPECT_THROW((void)p.run(), std::logic_error);
  }
}

class Blocks final : public UserFunction {
 public:
  std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t) override {
    const MutexLock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return is_open_; });
    --waiting_;
    changed_.notify_all();
    return inputs;
  }
  void open() {
    const MutexLock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return waiting_ == 0; });
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int waiting_ STOKER_GUARDED_BY(mutex_) = 0;
  bool is_open_ STOKER_GUARDED_BY(mutex_) = false;
};

// Chains go on while a function blocks, and an executor ends although it never returns.
TEST_F(Batches, AFunctionThatNeverReturnsHoldsNothingUp) {
  const SampleFolder folder(16);
  const auto function = std::make_shared<Blocks>();
  {
    Pipeline p(calling_graph(folder, function), options("pipelined"));
    const auto is_made = [&] { return p.stats().executor.bytes_read == 3 * 4 * 16; };
    for (int k = 0; k < 100 && !is_made(); ++k) EXPECT_FALSE(p.run([] { return true; }));
    EXPECT_TRUE(is_made()) << "the chains of all three steps";
  }
  function->open();
}

TEST_F(Batches, FunctionsWithLittleMemoryChangeNothingOrItIsSaid) {
  const SampleFolder folder(16, [](int i) { return size_t(2000 + 300 * i); });
  std::mt19937 random(2);
  int64_t raised = 0;
  for (int n = 0; n < 200; ++n) {
    PipelineOptions o = options("pipelined");
    o.memory_limit = std::uniform_int_distribution<int64_t>(20 << 10, 300 << 10)(random);
    Pipeline p(calling_graph(folder, std::make_shared<Doubles>()), o);
    try {
      for (int s = 0; s < 4; ++s) expect_doubles(*p.run());
    } catch (const BudgetError& e) {
      ++raised;
    } catch (const BatchError& e) {
      ++raised;
    }
  }
  EXPECT_GT(raised, 10);
  EXPECT_LT(raised, 190);
}

}  // namespace
}  // namespace stoker
