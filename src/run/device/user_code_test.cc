// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of the user's: on which thread, in which order and with which samples they are called,
// and what becomes of a step when they fail, block or find little memory.
#include <random>

#include "run/device/testing.h"

namespace stoker {
namespace {

using UserCode = OnDevice;

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

TEST_F(UserCode, FunctionsAreCalledInOrderOnOneThread) {
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

TEST_F(UserCode, FunctionsSeeTheSamplesThatAreLeft) {
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

TEST_F(UserCode, WhatAFunctionDoesWrongLosesTheStep) {
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

TEST_F(UserCode, AStepForWhichAFunctionFailsIsDropped) {
  const SampleFolder folder(16);
  for (const char* executor : {"simple", "pipelined"}) {
    const auto function = std::make_shared<Fails>(Fails::kSampleError);
    Pipeline p(calling_graph(folder, function), options(executor, "drop"));
    for (int s = 0; s < 3; ++s) EXPECT_TRUE(p.run()->is_lost);
    ASSERT_EQ(p.quarantine().size(), 1u);
    EXPECT_EQ(p.quarantine()[0].times, 3);
  }
}

TEST_F(UserCode, ABugInAFunctionEndsTheRun) {
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

TEST_F(UserCode, AFunctionThatNeverReturnsHoldsNothingUp) {
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

TEST_F(UserCode, FunctionsWithLittleMemoryChangeNothingOrItIsSaid) {
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
