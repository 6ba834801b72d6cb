// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Feeding: steps, sizes, markers and memory, with both executors.
#include <thread>

#include "run/testing.h"

namespace stoker {
namespace {

constexpr int64_t kBatch = 4;

PipelineOptions options(const char* executor = "pipelined", int depth = 2, int threads = 2) {
  PipelineOptions o;
  o.batch_size = kBatch;
  o.num_threads = threads;
  o.prefetch_queue_depth = depth;
  o.seed = 7;
  set_settings(o, {{"executor", std::string(executor)}});
  return o;
}

int add_input(Graph& g, const std::string& name, Arguments more = {}) {
  more["dtype"] = std::string("int32");
  more["ndim"] = int64_t{1};
  return g.add({.op = "external_source", .name = name, .arguments = std::move(more)});
}

// Outputs: what is fed, the same as int64, and a draw for each sample.
Graph input_graph(Arguments more = {}) {
  Graph g;
  const int in = add_input(g, "in", std::move(more));
  const int wide =
      g.add({.op = "cast", .arguments = {{"dtype", std::string("int64")}}, .inputs = {Ref{in, 0}}});
  const int coin = g.add({.op = "random.uniform"});
  g.outputs = {{in, 0}, {wide, 0}, {coin, 0}};
  return g;
}

// Samples of one axis: sample i holds the value `first` + i, `length(i)` times.
FedBatch batch(int size, int first, std::function<int64_t(int)> length = [](int) { return 3; }) {
  auto bytes = std::make_shared<std::vector<std::vector<int32_t>>>();
  FedBatch b;
  for (int i = 0; i < size; ++i) bytes->emplace_back(length(i), first + i);
  for (auto& v : *bytes)
    b.samples.push_back(View::dense(v.data(), DType::kInt32, {static_cast<int64_t>(v.size())}));
  b.owner = bytes;
  return b;
}

bool feed(Pipeline& p, const FedBatch& b, const std::string& name = "in", int wait_ms = 0) {
  return p.feeds().feed(p.feeds().input(name), b, true, wait_ms);
}

int32_t value(const Outputs& out, size_t i) {
  return *out.batches[0].samples[i].view.as<int32_t>();
}

std::vector<std::string> all(const Outputs& out) {
  std::vector<std::string> s;
  for (size_t i = 0; i < out.batches[0].samples.size(); ++i) s.push_back(bytes_of(out, i));
  return s;
}

TEST(Feed, BothExecutorsAgreeOnBatchesOfAnySize) {
  std::vector<std::vector<std::string>> want;
  for (const char* executor : {"simple", "pipelined"})
    for (int depth : {1, 3})
      for (int threads : {1, 3}) {
        Pipeline p(input_graph(), options(executor, depth, threads));
        std::vector<std::vector<std::string>> got;
        for (int step = 0; step < 8; ++step)
          feed(p, batch(1 + step % kBatch, 10 * step, [&](int i) { return 1 + (step + i) % 3; }));
        for (int step = 0; step < 8; ++step) got.push_back(all(*p.run()));
        if (want.empty()) want = got;
        EXPECT_EQ(got, want) << executor << " " << depth << " " << threads;
        EXPECT_EQ(got[2].size(), 3u);
      }
}

TEST(Feed, ChanceGoesByTheStepsOfTheWholePipeline) {
  Pipeline whole(input_graph(), options());
  feed(whole, batch(4, 0));
  feed(whole, batch(4, 4));
  const auto first = all(*whole.run()), second = all(*whole.run());
  Pipeline ragged(input_graph(), options());
  feed(ragged, batch(2, 0));
  feed(ragged, batch(4, 4));
  const auto half = all(*ragged.run());
  EXPECT_EQ(half, std::vector<std::string>(first.begin(), first.begin() + 2));
  EXPECT_EQ(all(*ragged.run()), second);
}

// What is resized has the announced extents, except for samples without elements.
TEST(Feed, ASampleWithoutElementsMakesABatchRagged) {
  for (const char* executor : {"simple", "pipelined"}) {
    Graph g;
    const int in = g.add({.op = "external_source",
                          .name = "in",
                          .arguments = {{"dtype", std::string("uint8")},
                                        {"ndim", int64_t{2}},
                                        {"layout", std::string("HW")}}});
    const int small = g.add({.op = "resize",
                             .arguments = {{"size", std::vector<double>{2, 2}}},
                             .inputs = {Ref{in, 0}}});
    g.outputs = {{small, 0}};
    Pipeline p(g, options(executor));
    auto pixels = std::make_shared<std::vector<uint8_t>>(4 * 4, uint8_t{7});
    FedBatch b{{}, pixels, nullptr};
    for (const int64_t rows : {4, 0, 4})
      b.samples.push_back(View::dense(pixels->data(), DType::kUint8, {rows, 4}));
    feed(p, b);
    b.samples.erase(b.samples.begin() + 1);
    feed(p, b);
    const Outputs ragged = *p.run(), even = *p.run();
    EXPECT_FALSE(ragged.batches[0].is_dense());
    EXPECT_EQ(ragged.batches[0].samples[1].view.shape, Shape({0, 2}));
    EXPECT_EQ(all(ragged)[2], std::string(4, 7));
    EXPECT_TRUE(even.batches[0].is_dense());
    EXPECT_EQ(all(even)[1], std::string(4, 7));
  }
}

TEST(Feed, SamplesOfOneShapeMakeADenseBatch) {
  Pipeline p(input_graph(), options());
  feed(p, batch(3, 0));
  feed(p, batch(3, 0, [](int i) { return 1 + i; }));
  const Outputs even = *p.run(), ragged = *p.run();
  EXPECT_TRUE(even.batches[0].is_dense());
  EXPECT_FALSE(ragged.batches[0].is_dense());
  EXPECT_EQ(ragged.batches[0].samples[2].view.shape[0], 3);
}

TEST(Feed, OutputsAreNotTheMemoryThatWasFed) {
  Pipeline p(input_graph(), options());
  const FedBatch b = batch(2, 5);
  p.feeds().feed(0, b, false, 0);
  const Outputs out = *p.run();
  EXPECT_NE(out.batches[0].samples[0].view.data, b.samples[0].data);
  *b.samples[0].as<int32_t>() = 99;
  EXPECT_EQ(value(out, 0), 5);
}

TEST(Feed, StridesAreCopiedAway) {
  Pipeline p(input_graph(), options());
  int32_t numbers[] = {1, 2, 3, 4, 5, 6};
  FedBatch b;
  View backwards = View::dense(numbers + 5, DType::kInt32, {3});
  backwards.strides[0] = -2 * static_cast<int64_t>(sizeof(int32_t));
  b.samples.push_back(backwards);
  feed(p, b);
  numbers[5] = 0;
  const Outputs out = *p.run();
  const int32_t* got = out.batches[0].samples[0].view.as<int32_t>();
  EXPECT_EQ(std::vector<int32_t>(got, got + 3), (std::vector<int32_t>{6, 4, 2}));
}

TEST(Feed, NothingFedIsAnErrorAndNoHang) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(input_graph(), options(executor));
    const std::string what = message<SourceError>([&] { (void)p.run(); });
    EXPECT_NE(what.find("external_source 'in': nothing was fed"), std::string::npos) << what;
    feed(p, batch(2, 3));
    EXPECT_EQ(value(*p.run(), 1), 4);
    EXPECT_THROW((void)p.run(), SourceError);
  }
}

TEST(Feed, WaitsForAnotherThreadWhereItIsAwaited) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(input_graph({{"blocking", true}}), options(executor));
    std::thread feeder([&] {
      for (int step = 0; step < 20; ++step) feed(p, batch(4, step), "in", 1000);
    });
    for (int step = 0; step < 20; ++step) EXPECT_EQ(value(*p.run(), 0), step);
    feeder.join();
  }
}

TEST(Feed, StopsWhileItWaits) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(input_graph({{"blocking", true}}), options(executor));
    int asked = 0;
    EXPECT_FALSE(p.run([&] { return ++asked == 2; }));
    feed(p, batch(4, 1));
    EXPECT_EQ(value(*p.run(), 0), 1);
  }
}

TEST(Feed, WhatWasNotReceivedIsMadeAgainAfterAStop) {
  Pipeline p(input_graph(), options("pipelined", 3));
  for (int step = 0; step < 3; ++step) feed(p, batch(4, step));
  EXPECT_EQ(value(*p.run(), 0), 0);
  p.stop();
  EXPECT_EQ(value(*p.run(), 0), 1);
  p.stop();
  EXPECT_EQ(value(*p.run(), 0), 2);
}

TEST(Feed, AFailureTakesItsStepAndNoOther) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(input_graph(), options(executor)), whole(input_graph(), options(executor));
    feed(p, batch(4, 0));
    p.feeds().fail({0}, std::make_exception_ptr(SourceError("source broke")));
    feed(p, batch(4, 8));
    for (int step = 0; step < 3; ++step) feed(whole, batch(4, 4 * step));
    EXPECT_EQ(all(*p.run()), all(*whole.run()));
    EXPECT_EQ(message<SourceError>([&] { (void)p.run(); }), "source broke");
    (void)whole.run();
    EXPECT_EQ(all(*p.run()), all(*whole.run())) << "the draws are those of the third step";
  }
}

TEST(Feed, AFailureOfSeveralInputsIsOneStep) {
  Graph g;
  const int a = add_input(g, "a"), b = add_input(g, "b");
  g.outputs = {{a, 0}, {b, 0}};
  Pipeline p(g, options());
  p.feeds().fail({0, 1}, std::make_exception_ptr(SourceError("source broke")));
  for (const char* name : {"a", "b"}) feed(p, batch(4, 7), name);
  EXPECT_EQ(message<SourceError>([&] { (void)p.run(); }), "source broke");
  EXPECT_EQ(value(*p.run(), 0), 7);
}

TEST(Feed, AnEpochEndsBetweenSteps) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(input_graph(), options(executor, 3)), whole(input_graph(), options(executor, 3));
    feed(p, batch(4, 0));
    p.feeds().end_epoch(0);
    feed(p, batch(4, 4));
    feed(whole, batch(4, 0));
    feed(whole, batch(4, 4));
    EXPECT_EQ(all(*p.run()), all(*whole.run()));
    const Outputs end = *p.run();
    EXPECT_TRUE(end.is_end && end.batches.empty());
    EXPECT_EQ(all(*p.run()), all(*whole.run())) << "the end takes no step";
  }
}

TEST(Feed, AnEndOfAnEpochWakesWhoWaits) {
  Pipeline p(input_graph({{"blocking", true}}), options());
  std::thread feeder([&] { p.feeds().end_epoch(0); });
  EXPECT_TRUE(p.run()->is_end);
  feeder.join();
}

TEST(Feed, RepeatsTheLastBatchWhenAskedTo) {
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(input_graph({{"repeat_last", true}}), options(executor));
    EXPECT_THROW((void)p.run(), SourceError) << "there is nothing to repeat yet";
    feed(p, batch(3, 1));
    const auto first = all(*p.run());
    EXPECT_EQ(value(*p.run(), 0), 1);
    feed(p, batch(2, 5));
    EXPECT_EQ(value(*p.run(), 0), 5) << "what was fed comes with the next run()";
    EXPECT_EQ(p.run()->batches[0].samples.size(), 2u);
  }
}

TEST(Feed, InputsOfOneStepAgreeOnItsSize) {
  Graph g;
  add_input(g, "a");
  add_input(g, "b");
  g.outputs = {{0, 0}, {1, 0}};
  Pipeline p(g, options());
  feed(p, batch(3, 0), "a");
  const std::string what = message<GraphError>([&] { feed(p, batch(2, 0), "b"); });
  EXPECT_NE(what.find("'b': a batch of 2 samples"), std::string::npos) << what;
  EXPECT_NE(what.find("'a' was fed 3"), std::string::npos) << what;
  feed(p, batch(3, 6), "b");
  EXPECT_EQ(p.run()->batches[1].samples.size(), 3u);
}

TEST(Feed, BesideAReaderBatchesAreWhole) {
  SampleFolder folder(8);
  Graph g = file_graph(folder);
  const int in = add_input(g, "in");
  g.outputs = {{0, 1}, {in, 0}};
  Pipeline p(g, options());
  EXPECT_NE(message<GraphError>([&] { feed(p, batch(3, 0)); }).find("beside a reader"),
            std::string::npos);
  for (int step = 0; step < 2; ++step) feed(p, batch(4, 10 * step));
  (void)p.run();
  const Outputs out = *p.run();
  EXPECT_EQ(label(out, 0), 4);
  EXPECT_EQ(*out.batches[1].samples[0].view.as<int32_t>(), 10);
}

TEST(Feed, WhatDoesNotFitIsNamed) {
  Pipeline p(input_graph(), options());
  EXPECT_NE(message<GraphError>([&] { feed(p, batch(5, 0)); }).find("batch_size is 4"),
            std::string::npos);
  EXPECT_THROW(feed(p, FedBatch{}), GraphError);
  FedBatch b = batch(2, 0);
  b.samples[1].dtype = DType::kFloat32;
  const std::string what = message<GraphError>([&] { feed(p, b); });
  EXPECT_NE(what.find("sample 1 that was fed is float32 (3,), expected int32 (?,)"),
            std::string::npos)
      << what;
  EXPECT_NE(message<GraphError>([&] { (void)p.feeds().input("im"); }).find("Did you mean 'in'?"),
            std::string::npos);
}

TEST(Feed, AnInputThatNoOutputNeedsIsLeftOut) {
  Graph g = input_graph();
  add_input(g, "spare");
  Pipeline p(g, options());
  EXPECT_EQ(p.feeds().input("spare"), -1);
  feed(p, batch(1, 7));
  EXPECT_EQ(value(*p.run(), 0), 7);
}

TEST(Feed, CopiesThatWaitAreBounded) {
  PipelineOptions o = options();
  o.memory_limit = 8 << 20;  // an eighth of it is for what is fed
  Pipeline p(input_graph(), o);
  const auto large = [](int) { return int64_t{40'000}; };  // 640 KB a batch
  EXPECT_TRUE(feed(p, batch(4, 0, large)));
  EXPECT_FALSE(feed(p, batch(4, 1, large), "in", 1)) << "there is room once the first is received";
  const std::string what = message<BudgetError>([&] { feed(p, batch(4, 1, large)); });
  EXPECT_NE(what.find("in batches that were fed"), std::string::npos) << what;
  (void)p.run();
  EXPECT_TRUE(feed(p, batch(4, 1, large)));
  (void)p.run();
  EXPECT_EQ(p.stats().fed.in_use, 0u);
  const auto too_large = [](int) { return int64_t{400'000}; };
  EXPECT_THROW(feed(p, batch(4, 0, too_large), "in", 1000), BudgetError) << "no waiting helps";
}

// Where the first waiting sample lies.
const std::byte* first_fed(Pipeline& p) {
  return p.feeds().at(p.feeds().received())->batches[0]->samples[0].as<std::byte>();
}

const std::byte* first_byte(const Outputs& out, size_t output = 0) {
  return out.batches[output].samples[0].view.as<std::byte>();
}

TEST(Feed, AnOutputTakesTheCopyThatWasFed) {
  const auto large = [](int) { return int64_t{40'001}; };
  for (const bool is_pipelined : {true, false}) {
    Pipeline p(input_graph(), options(is_pipelined ? "pipelined" : "simple", 1));
    const std::byte* home = nullptr;
    for (int step = 0; step < 3; ++step) {
      feed(p, batch(4, step, large));
      const std::byte* const fed = first_fed(p);
      if (!home) home = fed;
      const size_t fed_bytes = p.stats().fed.in_use;
      const Outputs out = *p.run();
      EXPECT_EQ(first_byte(out) == fed, is_pipelined);
      EXPECT_EQ(fed, home) << "what the user let go of is fed into again";
      EXPECT_EQ(value(out, 3), 3 + step);
      EXPECT_TRUE(out.batches[0].is_dense());
      EXPECT_EQ(p.stats().fed.in_use, 0u);
      EXPECT_GE(p.stats().batches.of(Use::kHeld), 3 * fed_bytes) << "int32 and int64";
    }
    EXPECT_EQ(p.stats().batches.in_use, 0u);
    EXPECT_LE(p.stats().fed.high_water_held, size_class(16 * 40'001) * 5 / 4);
  }
}

TEST(Feed, WhatTheUserHoldsCountsAmongBatches) {
  std::vector<size_t> held;
  for (const char* executor : {"simple", "pipelined"}) {
    PipelineOptions o = options(executor, 1);
    o.memory_limit = 8 << 20;
    Graph g;
    g.outputs = {{add_input(g, "in"), 0}};
    Pipeline p(g, o);
    std::vector<Outputs> all;
    const auto large = [](int) { return int64_t{40'000}; };  // 640 KB a batch
    const std::string what = message<BudgetError>([&] {
      for (;;) {
        feed(p, batch(4, static_cast<int>(all.size()), large));
        all.push_back(*p.run());
        const Pipeline::Stats s = p.stats();
        EXPECT_LE(s.batches.in_use, s.batches.limit);
        EXPECT_LE(s.fed.in_use + s.fed.cached, s.fed.limit);
      }
    });
    EXPECT_NE(what.find("in outputs that you hold"), std::string::npos) << what;
    for (size_t step = 0; step < all.size(); ++step)
      EXPECT_EQ(value(all[step], 1), static_cast<int>(step) + 1);
    held.push_back(all.size());
    all.erase(all.begin());
    EXPECT_EQ(value(*p.run(), 1), static_cast<int>(held.back()) + 1) << "what was fed waits";
  }
  EXPECT_EQ(held[0], held[1]);
}

TEST(Feed, OutputsShareNoBytes) {
  Graph g = input_graph();
  g.outputs = {{0, 0}, {0, 0}, {1, 0}};
  Pipeline p(g, options());
  feed(p, batch(4, 1));
  const Outputs out = *p.run();
  EXPECT_NE(first_byte(out), first_byte(out, 1));
  EXPECT_EQ(std::memcmp(first_byte(out), first_byte(out, 1), 12), 0);
  EXPECT_EQ(*out.batches[2].samples[3].view.as<int64_t>(), 4);
}

TEST(Feed, WhatIsFedAgainIsNotHandedOut) {
  Pipeline p(input_graph({{"repeat_last", true}}), options());
  feed(p, batch(4, 1));
  for (int step = 0; step < 3; ++step) {
    const Outputs out = *p.run();
    EXPECT_EQ(value(out, 0), 1);
    *out.batches[0].samples[0].view.as<int32_t>() = 99;
  }
}

// With two steps held, there is room for what the third one takes over, but not for its copy.
TEST(Feed, WhatWasTakenIsFoundAgainWhereTheStepFails) {
  PipelineOptions o = options("pipelined", 1);
  o.memory_limit = 8 << 20;
  Graph g;
  const int in = add_input(g, "in");
  g.outputs = {{in, 0}, {in, 0}};
  Pipeline p(g, o);
  std::vector<Outputs> held;
  const auto feed_large = [&](int first) {
    feed(p, batch(4, first, [](int) { return int64_t{49'152}; }));  // 768 KiB, of 4 MiB
  };
  for (int step = 0; step < 2; ++step) {
    feed_large(10 * step);
    held.push_back(*p.run());
  }
  feed_large(20);
  const std::string what = message<BudgetError>([&] { (void)p.run(); });
  EXPECT_NE(what.find("a batch of up to 4 samples"), std::string::npos) << what;
  held.clear();
  const Outputs out = *p.run();
  EXPECT_EQ(value(out, 3), 23);
  EXPECT_EQ(std::memcmp(first_byte(out), first_byte(out, 1), 768 << 10), 0);
}

void expect_no_gap(OnError on_error) {
  std::vector<std::vector<std::string>> got;
  for (const char* executor : {"simple", "pipelined"}) {
    PipelineOptions o = options(executor, 2);
    o.on_error = on_error;
    Graph g;
    const int in = add_input(g, "in"), start = add_input(g, "start");
    const int cut =
        g.add({.op = "slice",
               .arguments = {{"axes", std::vector<int64_t>{0}}, {"shape", std::vector<int64_t>{1}}},
               .inputs = {Ref{in, 0}},
               .links = {{"start", {start, 0}}}});
    g.outputs = {{in, 0}, {cut, 0}};
    Pipeline p(g, o);
    auto starts = batch(4, 0, [](int) { return int64_t{1}; });
    *starts.samples[1].as<int32_t>() = 5;  // outside of the sample
    feed(p, batch(4, 7, [](int) { return int64_t{4}; }));
    feed(p, starts, "start");
    const Outputs out = *p.run();
    EXPECT_TRUE(out.batches[0].is_dense());
    EXPECT_EQ(value(out, 1), 9);
    got.push_back(all(out));
    EXPECT_EQ(got.back().size(), 3u);
  }
  EXPECT_EQ(got[0], got[1]);
}

// The gap of a skipped sample is closed in memory that does not belong to the feeds.
TEST(Feed, SkippedSamplesLeaveNoGap) {
  expect_no_gap(OnError::kSkip);
  expect_no_gap(OnError::kDrop);
}

TEST(Feed, AStateForgetsWhatWasNotReceived) {
  Pipeline p(input_graph(), options());
  for (int step = 0; step < 3; ++step) feed(p, batch(4, 4 * step));
  (void)p.run();
  const std::string state = p.state();
  const auto second = all(*p.run());
  p.restore(state, false);
  EXPECT_THROW((void)p.run(), SourceError);
  feed(p, batch(4, 4));
  EXPECT_EQ(all(*p.run()), second);
}

TEST(Feed, TypesAreDeclared) {
  Graph g;
  g.add({.op = "external_source", .name = "in"});
  g.outputs = {{0, 0}};
  EXPECT_NE(message<GraphError>([&] { Pipeline p(g, options()); }).find("its type is not known"),
            std::string::npos);
  g.nodes[0].arguments["dtype"] = std::string("uint8");
  g.nodes[0].arguments["layout"] = std::string("HWC");
  EXPECT_EQ(Pipeline(g, options()).plan().checked(0).outputs[0].shape.rank, 3);
  g.nodes[0].arguments["ndim"] = int64_t{2};
  EXPECT_THROW(Pipeline(g, options()), GraphError);
}

}  // namespace
}  // namespace stoker
