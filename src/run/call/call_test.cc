// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/call/call.h"

#include <thread>

#include "run/testing.h"

namespace stoker {

namespace {

// What is given, as float32, times a draw from [1, 2).
Graph drawn_graph() {
  Graph g;
  const int given = g.add({.op = "external_source",
                           .name = "given",
                           .arguments = {{"dtype", std::string("uint8")}, {"ndim", int64_t{1}}}});
  const int draw =
      g.add({.op = "random.uniform", .arguments = {{"range", std::vector<double>{1, 2}}}});
  const int product = g.add({.op = "arithmetic",
                             .arguments = {{"expression", std::string("(x0 * x1)")}},
                             .inputs = {Ref{given, 0}, Ref{draw, 0}}});
  g.outputs = {{product, 0}};
  return g;
}

// Samples of one byte each, with the values 1, 2, and so on.
struct Bytes {
  explicit Bytes(int count) : values(static_cast<size_t>(count)) {
    for (int i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(i + 1);
  }
  FedBatch batch() {
    FedBatch b;
    for (uint8_t& v : values) b.samples.push_back(View::dense(&v, DType::kUint8, Shape{1}));
    return b;
  }
  std::vector<uint8_t> values;
};

std::vector<float> numbers(const Outputs& out) {
  std::vector<float> all;
  for (const Sample& s : out.batches[0].samples) all.push_back(*s.view.as<float>());
  return all;
}

std::vector<float> called(const Call& call, int count, const CallKey& key, Crew* crew = nullptr) {
  Bytes bytes(count);
  std::vector<FedBatch> given;
  given.push_back(bytes.batch());
  return numbers(call.run(std::move(given), count, key, crew));
}

std::vector<float> by_pipeline(int count, int64_t seed) {
  PipelineOptions o{.batch_size = count, .num_threads = 1, .seed = seed};
  o.executor = ExecutorKind::kSimple;
  Pipeline p(drawn_graph(), o);
  Bytes bytes(count);
  p.feeds().feed(p.feeds().input("given"), bytes.batch(), true, 0);
  return numbers(*p.run());
}

template <class E, class F>
void expect_failure(const F& f, const std::string& what) {
  const std::string said = message<E>(f);
  EXPECT_NE(said.find(what), std::string::npos) << said;
}

}  // namespace

TEST(Call, GivesWhatAPipelineGives) {
  const Call call(drawn_graph(), std::make_shared<CallMemory>());
  for (const uint64_t seed : {3, 4}) {
    const std::vector<float> judge = by_pipeline(5, static_cast<int64_t>(seed));
    EXPECT_EQ(called(call, 5, {seed, 0}), judge);
    // A sample that is alone is that of its position.
    Bytes bytes(5);
    for (int i = 0; i < 5; ++i) {
      std::vector<FedBatch> given(1);
      given[0].samples = {bytes.batch().samples[i]};
      EXPECT_EQ(numbers(call.run(std::move(given), 1, {seed, i})), std::vector{judge[i]});
    }
  }
  EXPECT_NE(called(call, 5, {3, 0}), called(call, 5, {4, 0}));
}

TEST(Call, CrewAndThreadsChangeNothing) {
  const Call call(drawn_graph(), std::make_shared<CallMemory>());
  const std::vector<float> judge = called(call, 200, {9, 0});
  Crew crew(3);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < 20; ++n)
        wrong += called(call, 200, {9, 0}, t % 2 ? &crew : nullptr) != judge;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Call, KeepsABoundedAmountOfMemory) {
  const auto memory = std::make_shared<CallMemory>();
  EXPECT_TRUE(memory->try_keep(size_t{200} << 20));
  EXPECT_FALSE(memory->try_keep(size_t{100} << 20));
  memory->let_go(size_t{200} << 20);
  {
    const Call call(drawn_graph(), memory);
    called(call, 3, {});
    EXPECT_GT(memory->kept(), 0u);
  }
  EXPECT_EQ(memory->kept(), 0u);
}

TEST(Call, RefusesWhatDoesNotFit) {
  const auto memory = std::make_shared<CallMemory>();
  const Call call(drawn_graph(), memory);
  float wrong = 1;
  std::vector<FedBatch> given(1);
  given[0].samples = {View::dense(&wrong, DType::kFloat32, Shape{1})};
  expect_failure<GraphError>([&] { (void)call.run(std::move(given), 1, {}); }, "expected uint8");
  expect_failure<GraphError>([&] { (void)call.run({}, 1, {}); }, "the call has 1 inputs, got 0");
  expect_failure<GraphError>([&] { (void)called(call, 0, {}); }, "got 0");

  const SampleFolder folder(2);
  expect_failure<GraphError>([&] { (void)Call(raw_graph(folder), memory); },
                             "it reads samples by itself");
}

TEST(Call, NamesTheSampleThatFailed) {
  Graph g;
  const int given = g.add({.op = "external_source",
                           .arguments = {{"dtype", std::string("uint8")}, {"ndim", int64_t{1}}}});
  const int picture = g.add({.op = "decoders.image",
                             .name = "picture",
                             .inputs = {Ref{given, 0}},
                             .where = "train.py:7"});
  g.outputs = {{picture, 0}};
  const Call call(g, std::make_shared<CallMemory>());
  expect_failure<BatchError>([&] { (void)called(call, 1, {}); },
                             "the sample at byte 0: decoders.image 'picture' (train.py:7): ");
  expect_failure<BatchError>([&] { (void)called(call, 3, {}); },
                             "3 of 3 samples could not be made:\n  sample 0 at byte 0: ");
}

// What is given, or that as float32, by a condition of each sample.
Graph graph_of_two_types() {
  Graph g;
  const auto input = [&g](const char* dtype, int64_t ndim) {
    return Ref{g.add({.op = "external_source",
                      .arguments = {{"dtype", std::string(dtype)}, {"ndim", ndim}}}),
               0};
  };
  const Ref x = input("uint8", 1), condition = input("bool", 0);
  const Ref cast{g.add({.op = "cast",
                        .arguments = {{"dtype", std::string("float32")}},
                        .inputs = {x},
                        .guards = {{condition, true}}}),
                 0};
  const Ref same{g.add({.op = "copy", .inputs = {x}, .guards = {{condition, false}}}), 0};
  g.outputs = {{g.add({.op = "merge", .inputs = {cast, same, condition}}), 0}};
  return g;
}

Outputs called(const Call& call, std::vector<uint8_t> conditions) {
  Bytes bytes(static_cast<int>(conditions.size()));
  FedBatch given;
  for (uint8_t& c : conditions) given.samples.push_back(View::dense(&c, DType::kBool, Shape{}));
  return call.run({bytes.batch(), std::move(given)}, std::ssize(conditions), {});
}

TEST(Call, GivesOneBatchOfAnOutputWhoseSidesDiffer) {
  const Call call(graph_of_two_types(), std::make_shared<CallMemory>());
  for (const size_t count : {1u, 3u})
    for (const uint8_t is_cast : {0, 1}) {
      const Outputs out = called(call, std::vector<uint8_t>(count, is_cast));
      ASSERT_EQ(out.batches.size(), 1u);
      ASSERT_EQ(out.batches[0].samples.size(), count);
      EXPECT_EQ(out.batches[0].samples[0].view.dtype, is_cast ? DType::kFloat32 : DType::kUint8);
    }
}

TEST(Call, ABatchWhoseTypesMeetMissesAllItsSamples) {
  const Call call(graph_of_two_types(), std::make_shared<CallMemory>());
  expect_failure<BatchError>([&] { (void)called(call, {0, 1, 0}); },
                             "3 of 3 samples could not be made:\n  the batch");
}

TEST(Call, ReadsFilesWithinItsMemory) {
  const SampleFolder folder(2, [](int i) { return i ? 64 : size_t{1} << 20; });
  const auto memory = std::make_shared<CallMemory>(int64_t{1} << 20);
  const std::byte* first = memory->read(folder.path(1))->data();
  const auto again = memory->read(folder.path(1)), other = memory->read(folder.path(1));
  EXPECT_EQ(again->data(), first);  // in the buffer that was kept
  EXPECT_NE(other->data(), first);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(again->data()), again->size()),
            std::string(64, 1));
  expect_failure<SampleError>([&] { (void)memory->read(folder.path(0)); },
                              "an eighth of memory_limit");
}

}  // namespace stoker
