// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// The invariants of the executors, a test for each.
#include <set>
#include <thread>

#include "run/testing.h"

namespace stoker {
namespace {

PipelineOptions options(int64_t batch, int threads = 2, int depth = 2,
                        const char* executor = "pipelined") {
  PipelineOptions o;
  o.batch_size = batch;
  o.num_threads = threads;
  o.prefetch_queue_depth = depth;
  o.seed = 7;
  set_settings(o, {{"executor", std::string(executor)}});
  return o;
}

std::vector<std::string> run(Graph g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  std::vector<std::string> all;
  for (int s = 0; s < steps; ++s) {
    const Outputs out = *p.run();
    for (size_t i = 0; i < out.batches[0].samples.size(); ++i) all.push_back(bytes_of(out, i));
  }
  return all;
}

TEST(Executor, ThreadsDepthBatchAndFormChangeNoByte) {
  SampleFolder folder(13, [](int i) { return size_t(5 + 7 * i); });
  auto graph = [&] { return file_graph(folder, {{"random_shuffle", true}}); };
  const auto want = run(graph(), options(7, 1, 1, "simple"), 10);
  for (int threads : {1, 2, 7})
    for (int depth : {1, 2, 5})
      EXPECT_EQ(run(graph(), options(7, threads, depth), 10), want) << threads << " " << depth;
  for (int64_t batch : {1, 2, 10, 35}) {
    EXPECT_EQ(run(graph(), options(batch), static_cast<int>(70 / batch)), want) << batch;
    EXPECT_EQ(run(graph(), options(batch, 1, 1, "simple"), static_cast<int>(70 / batch)), want)
        << batch;
  }
}

TEST(Executor, ShardsDealTheSameStream) {
  SampleFolder folder(13);
  const auto want =
      run(file_graph(folder, {{"random_shuffle", true}}), options(1, 1, 1, "simple"), 60);
  for (int shards : {2, 5}) {
    std::vector<std::vector<std::string>> parts;
    for (int s = 0; s < shards; ++s)
      parts.push_back(run(file_graph(folder, {{"random_shuffle", true},
                                              {"shard_id", int64_t{s}},
                                              {"num_shards", int64_t{shards}}}),
                          options(3), 60 / (3 * shards)));
    // If an epoch ends within a step, the shards share what is left of it: Note [Shares].
    for (int step = 0; step < 60 / (3 * shards); ++step) {
      std::multiset<std::string> made;
      for (const auto& part : parts)
        made.insert(part.begin() + 3 * step, part.begin() + 3 * (step + 1));
      const auto begin = want.begin() + 3 * shards * step;
      EXPECT_EQ(made, std::multiset<std::string>(begin, begin + 3 * shards)) << shards << step;
    }
  }
}

TEST(Executor, AnotherSeedChangesDrawsAndNotTheOrder) {
  SampleFolder folder(9);
  PipelineOptions a = options(9), b = a;
  b.seed = 8;
  Pipeline p(file_graph(folder, {{"random_shuffle", true}}), a),
      q(file_graph(folder, {{"random_shuffle", true}}), b);
  const Outputs x = *p.run(), y = *q.run();
  EXPECT_EQ(labels(x), labels(y));
  for (size_t i = 0; i < 9; ++i)
    EXPECT_NE(*x.batches[2].samples[i].view.as<float>(), *y.batches[2].samples[i].view.as<float>());
}

TEST(Executor, OneSlowSampleDelaysOnlyItsOwnIteration) {
  SampleFolder folder(192);
  Gate gate({folder.path(1)});
  io::WithFaults faults(gate);
  Pipeline p(file_graph(folder), options(64, 2, 3));
  p.schedule();
  gate.wait_for(192);  // the other worker has run all other tickets of the three open iterations
  gate.open();
  for (int s = 0; s < 3; ++s) EXPECT_EQ(label(*p.run(), 0), 64 * s);
}

TEST(Executor, NoMoreIterationsAreOpenThanDepth) {
  SampleFolder folder(40);
  Gate gate({});
  io::WithFaults faults(gate);
  PipelineOptions o = options(4, 2, 2);
  o.read_ahead_limit = 1;  // only one file is read that no worker asks for
  Pipeline p(file_graph(folder), o);
  (void)p.run();
  gate.wait_for(12);
  p.stop();
  EXPECT_LE(gate.opened().size(), 4u * 3 + 1);
}

TEST(Executor, EndsWhileReadsAreHeldBack) {
  SampleFolder folder(8);
  Gate gate({folder.path(3)});
  io::WithFaults faults(gate);
  auto p = std::make_unique<Pipeline>(file_graph(folder), options(4));
  p->schedule();
  gate.wait_for(4);
  std::thread opener([&] { gate.open(); });
  p.reset();  // joins as soon as that one read is done
  opener.join();
}

TEST(Executor, OutputsBelongToTheirHolder) {
  SampleFolder folder(8);
  auto p = std::make_unique<Pipeline>(file_graph(folder), options(2));
  Outputs first = *p->run();
  const std::string before = bytes_of(first, 1);
  for (int i = 0; i < 10; ++i) (void)p->run();
  p.reset();
  EXPECT_EQ(bytes_of(first, 1), before);
}

TEST(Executor, AnOutputNamedTwiceIsNotShared) {
  SampleFolder folder(4);
  Graph g = file_graph(folder);
  g.outputs = {g.outputs[0], g.outputs[0], g.outputs[1], g.outputs[1]};
  Pipeline p(g, options(2));
  const Outputs out = *p.run();
  for (int k : {0, 2}) {
    EXPECT_NE(out.batches[k].samples[0].view.data, out.batches[k + 1].samples[0].view.data);
    EXPECT_EQ(std::memcmp(out.batches[k].samples[1].view.data,
                          out.batches[k + 1].samples[1].view.data, 4),
              0);
  }
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kDeep = 20'000;  // frames of the stack are larger, and all is slower
#else
constexpr int kDeep = 100'000;
#endif

TEST(Executor, AGraphMayBeAnyDepth) {
  Graph g;
  int last = g.add({.op = "random.uniform", .arguments = {{"range", std::vector<double>{0, 1}}}});
  for (int i = 0; i < kDeep; ++i)
    last = g.add(
        {.op = "cast", .arguments = {{"dtype", std::string("float32")}}, .inputs = {Ref{last, 0}}});
  const int picture = g.add({.op = "constant",
                             .arguments = {{"fdata", std::vector<double>(12)},
                                           {"shape", std::vector<int64_t>{2, 2, 3}},
                                           {"layout", std::string("HWC")},
                                           {"dtype", std::string("uint8")}}});
  const int crop = g.add({.op = "crop",
                          .arguments = {{"crop", std::vector<int64_t>{1, 1}}},
                          .inputs = {Ref{picture, 0}},
                          .links = {{"crop_pos_x", {last, 0}}}});
  g.outputs = {{crop, 0}};
  std::string settings;
  const Graph loaded = load_graph(save_graph(g, "{}"), settings);
  EXPECT_TRUE(Pipeline(loaded, options(1)).run());
}

TEST(Executor, ThePlanSaysWhatOnlyPartOfIsMade) {
  SampleFolder folder(4);
  Graph g;
  const Arguments reader = {{"files", folder.names()}, {"file_root", folder.root()}};
  g.add({.op = "readers.file", .arguments = reader});
  g.add({.op = "decoders.image", .inputs = {Ref{0, 0}}});
  g.add(
      {.op = "resize", .arguments = {{"size", std::vector<double>{8, 8}}}, .inputs = {Ref{1, 0}}});
  const std::string narrowed = "only the window";
  g.outputs = {{2, 0}};
  EXPECT_NE(Pipeline(g, options(2)).plan().str().find(narrowed), std::string::npos);
  g.outputs = {{1, 0}, {2, 0}};
  EXPECT_EQ(Pipeline(g, options(2)).plan().str().find(narrowed), std::string::npos);
}

TEST(Executor, MemoryStaysFlatOverEpochs) {
  SampleFolder folder(16, [](int i) { return size_t(1000 + 997 * i); });
  Pipeline p(file_graph(folder, {{"random_shuffle", true}}), options(4));
  for (int s = 0; s < 400; ++s) (void)p.run();
  const size_t largest = size_class(4 * (1000 + 997 * 15));
  // Two iterations are open and one was handed out. What was read lies in memory of the same pool,
  // by size classes: ahead, and one sample at each worker.
  const size_t batches = 3 * 4 * largest;
  const size_t read = p.stats().executor.read_ahead_high_water * 5 / 4 + 4 * largest;
  EXPECT_LE(p.stats().batches.high_water_held, (batches + read) * 5 / 4);
  p.stop();
  EXPECT_EQ(p.stats().batches.in_use, 0u);
}

TEST(Executor, ATightBudgetGivesTheSameBytes) {
  SampleFolder folder(12, [](int i) { return size_t(20000 + 1500 * i); });
  auto graph = [&] { return raw_graph(folder, {{"random_shuffle", true}}); };
  const auto want = run(graph(), options(4, 1, 1, "simple"), 12);
  PipelineOptions tight = options(4, 3, 4);
  tight.memory_limit = 2 * 200 * 1024;  // room for one batch of the largest samples
  Pipeline p(graph(), tight);
  std::vector<std::string> all;
  for (int s = 0; s < 12; ++s) {
    const Outputs out = *p.run();
    for (size_t i = 0; i < 4; ++i) all.push_back(bytes_of(out, i));
  }
  EXPECT_EQ(all, want);
  EXPECT_LE(p.stats().batches.high_water, tight.memory_limit / 2);
  // Tries that starved, and iterations that were cancelled and made again, do not count.
  EXPECT_GE(p.stats().executor.samples, 12 * 4);
  EXPECT_LE(p.stats().executor.samples, (12 + 4) * 4);
}

// Each sample takes two buffers, so two samples can take each other's room.
TEST(Executor, ATightBudgetForSamplesOfSeveralBuffersDoesTheSame) {
  SampleFolder folder(12, [](int i) { return size_t(20000 + 1500 * i); });
  auto graph = [&](Arguments reader) {
    Graph g = file_graph(folder, std::move(reader));
    g.outputs.emplace_back(0, 0);
    return g;
  };
  const auto want = run(graph({{"random_shuffle", true}}), options(4, 1, 1, "simple"), 12);
  PipelineOptions tight = options(4, 3, 4);
  tight.memory_limit = 2 * 960 * 1024;  // little more than one batch of the largest
  EXPECT_EQ(run(graph({{"random_shuffle", true}}), tight, 12), want);
  tight.memory_limit = 2 * 200 * 1024;
  Pipeline p(graph({}), tight);
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)p.run(), BudgetError);
}

TEST(Executor, ABudgetTooSmallForOneBatchSaysSo) {
  SampleFolder folder(4, [](int) { return size_t(100000); });
  PipelineOptions o = options(2);
  o.memory_limit = 300000;
  Pipeline p(raw_graph(folder), o);
  EXPECT_THROW((void)p.run(), BudgetError);
  EXPECT_THROW((void)p.run(), BudgetError);  // the second call does not hang either
}

TEST(Executor, AUserWhoHoldsEverythingIsToldAndMayGoOn) {
  SampleFolder folder(8, [](int) { return size_t(50000); });
  PipelineOptions o = options(2);
  o.memory_limit = 2 * 1000 * 1024;
  Pipeline p(raw_graph(folder), o);
  std::vector<Outputs> held;
  try {
    for (int i = 0; i < 100; ++i) held.push_back(*p.run());
    FAIL() << "no error";
  } catch (const BudgetError& e) {
    EXPECT_NE(std::string(e.what()).find("you hold"), std::string::npos) << e.what();
  }
  ASSERT_FALSE(held.empty());
  const int32_t last = label(held.back(), 1);
  held.clear();
  EXPECT_EQ(label(*p.run(), 0), (last + 1) % 8);  // no sample was lost
}

TEST(Executor, TwoThreadsInOnePipelineAreAnError) {
  SampleFolder folder(4);
  Gate gate({folder.path(0)});
  io::WithFaults faults(gate);
  Pipeline p(file_graph(folder), options(2));
  std::thread other([&] { (void)p.run(); });
  gate.wait_for(1);
  std::string message;
  while (message.empty()) {  // until the other thread is inside run()
    try {
      (void)p.steps_left();
      (void)p.state();
      std::this_thread::yield();
    } catch (const StateError& e) {
      message = e.what();
    }
  }
  gate.open();
  other.join();
  EXPECT_NE(message.find("two threads"), std::string::npos);
}

// Counts opened files. Each takes longer than run() goes without asking `interrupted`.
class SlowFiles final : public io::FaultInjector {
 public:
  int on_open(const std::string&) override {
    ++opened;
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return 0;
  }
  int opened = 0;
};

TEST(Executor, TheSimpleOneIsInterruptedBetweenSamplesAndLosesNone) {
  SampleFolder folder(6);
  const auto want = run(file_graph(folder), options(6), 1);
  SlowFiles slow;
  io::WithFaults faults(slow);
  Pipeline p(file_graph(folder), options(6, 1, 1, "simple"));
  EXPECT_FALSE(p.run([] { return true; }));
  EXPECT_EQ(slow.opened, 1);
  const Outputs out = *p.run();
  EXPECT_EQ(slow.opened, 6);
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(bytes_of(out, i), want[i]);
}

TEST(Executor, AStepThatIsReadyIsNotLostWhenTheCallerIsInterrupted) {
  const SampleFolder folder(6);
  const auto want = run(file_graph(folder), options(6), 1);
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(file_graph(folder), options(3, 2, 2, executor));
    p.schedule();
    // Sooner or later the first step is ready when it asks.
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(p.run([] { return true; }));
    const Outputs out = *p.run();
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(bytes_of(out, i), want[i]);
  }
}

TEST(Executor, WithoutAReaderItCountsItsOwnSamples) {
  auto graph = [] {
    Graph g;
    const int n = g.add({.op = "random.uniform"});
    g.outputs = {{n, 0}};
    return g;
  };
  const auto want = run(graph(), options(12), 1);
  for (int shard : {0, 1, 2}) {
    PipelineOptions o = options(2);
    o.shard_id = shard;
    o.num_shards = 3;
    const auto part = run(graph(), o, 2);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(part[i], want[i / 2 * 6 + shard * 2 + i % 2]);
  }
}

}  // namespace
}  // namespace stoker
