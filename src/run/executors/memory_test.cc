// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Samples that need much memory. Whether one is bad depends only on it and on the limit.
#include "run/executors/testing.h"
#include "run/testing.h"

namespace stoker {
namespace {

constexpr size_t kLimit = 8 << 20;  // of memory; one sample may need 3 MiB, batches have 4 MiB

PipelineOptions limited_options(const char* executor, int threads = 2, int64_t batch = 3,
                                int depth = 2) {
  PipelineOptions o;
  set_settings(o, {{"executor", std::string(executor)}});
  o.num_threads = threads;
  o.batch_size = batch;
  o.prefetch_queue_depth = depth;
  o.seed = 3;
  o.memory_limit = kLimit;
  return o;
}

class Reader final : public Executor {
 public:
  explicit Reader(ExecutorArguments a) : Executor(std::move(a), [] {}) {}
  void schedule() override {}
  bool wait(int) override { return false; }
  Outputs take_step() override { return {}; }
  int64_t node_ns(int) const override { return 0; }
  ExecutorStats stats() const override { return {}; }
  size_t read(int64_t turn) { return fetchers_[0]->take(turn)->size(); }
  size_t cached() const { return read_.usage().cached; }
};

// Only the labels. A sample needs its file and little else.
Graph label_graph(const SampleFolder& folder, Arguments reader = {}) {
  Graph g = raw_graph(folder, std::move(reader));
  g.outputs = {{0, 1}};
  return g;
}

// The bytes as numbers of 4 bytes and back. Without fusing, the numbers are in scratch memory.
Graph wide_graph(const SampleFolder& folder) {
  Graph g = file_graph(folder);
  const int back = g.add(
      {.op = "cast", .arguments = {{"dtype", std::string("uint8")}}, .inputs = {g.outputs[1]}});
  g.outputs = {{0, 1}, {back, 0}};
  return g;
}

// What each sample becomes, until so many were asked for; lost steps leave a gap.
std::vector<std::string> made(Pipeline& p, int64_t samples) {
  std::vector<std::string> all;
  for (int64_t n = 0; n < samples; n += *p.settings().batch_size) {
    try {
      const Outputs out = *p.run();
      for (size_t i = 0; i < out.batches[0].samples.size(); ++i) all.push_back(bytes_of(out, i));
    } catch (const BatchError&) {
      EXPECT_EQ(p.settings().on_error, OnError::kSkip);
    }
  }
  return all;
}
std::vector<std::string> made(const Graph& g, const PipelineOptions& o, int64_t samples) {
  Pipeline p(g, o);
  return made(p, samples);
}

std::vector<std::string> sources(const Pipeline& p) {
  std::vector<std::string> all;
  for (auto& q : p.quarantine()) all.push_back(q.last.source);
  return all;
}

size_t mixed_size(int i) {
  switch (i) {
    case 2: return (3 << 20) + 1;  // above the ceiling
    case 5: return (3 << 20) - 4096;  // just below
    case 7: return 1 << 20;
    case 11: return 5 << 20;
    default: return 16;
  }
}

TEST(Memory, TheCeilingIsTheSameForAnyTopology) {
  const SampleFolder folder(12, mixed_size);
  const std::vector<std::string> bad{folder.path(2), folder.path(11)};
  for (OnError on_error : {OnError::kSkip, OnError::kReplace}) {
    std::vector<std::string> want;
    for (const char* executor : {"simple", "pipelined"})
      for (int threads : {1, 2, 7})
        for (int64_t batch : {1, 3, 12})
          for (int depth : {1, 4}) {
            PipelineOptions o = limited_options(executor, threads, batch, depth);
            o.on_error = on_error;
            Pipeline p(label_graph(folder, {{"random_shuffle", true}}), o);
            const auto got = made(p, 24);
            if (want.empty()) want = got;
            EXPECT_EQ(got, want) << executor << threads << batch << depth;
            EXPECT_EQ(sources(p), bad);
          }
    EXPECT_EQ(want.size(), on_error == OnError::kSkip ? 20u : 24u);
  }
}

// What was read becomes the batch. An output that is named again is a copy of it.
TEST(Memory, EncodedBytesAreNotCopied) {
  struct Reads final : io::FaultInjector {
    Mutex mutex;
    std::map<const void*, std::string> last STOKER_GUARDED_BY(mutex);  // path, by place
    void on_bytes(const std::string& path, int64_t, std::byte* into, size_t count) override {
      const MutexLock lock(mutex);
      if (count > 0) last[into] = path;
    }
    std::string last_into(const void* p) {
      const MutexLock lock(mutex);
      return last[p];
    }
  } reads;
  const io::WithFaults with(reads);
  const SampleFolder folder(12, [](int i) { return size_t(1000 * (i + 1)); });
  for (const bool is_twice : {false, true}) {
    Graph g = raw_graph(folder);
    if (is_twice) g.outputs.push_back({0, 0});
    Pipeline p(g, limited_options("pipelined", 2, 4));
    for (int step = 0; step < 9; ++step) {
      const Outputs out = *p.run();
      for (size_t i = 0; i < 4; ++i) {
        const Sample& s = out.batches[1].samples[i];
        const std::string want(s.view.bytes(), static_cast<char>(label(out, i)));
        EXPECT_EQ(std::string(s.view.as<char>(), s.view.bytes()), want);
        // After this step, a copy might lie where the same file was read before.
        if (step < 3) {
          EXPECT_EQ(reads.last_into(s.view.data), folder.path(label(out, i)));
        }
        if (is_twice) {
          const View& again = out.batches[2].samples[i].view;
          EXPECT_NE(s.view.data, again.data);
          EXPECT_EQ(std::string(again.as<char>(), again.bytes()), want);
        }
        std::memset(s.view.data, 255, s.view.bytes());  // it is the holder's
      }
    }
  }
}

TEST(Memory, ABadSampleIsNamedWithWhatItNeedsAndTheCeiling) {
  const SampleFolder folder(8, mixed_size);
  for (const char* executor : {"simple", "pipelined"}) {
    Pipeline p(label_graph(folder), limited_options(executor, 2, 4));
    try {
      (void)p.run();
      FAIL() << "no error";
    } catch (const BatchError& e) {
      ASSERT_EQ(e.samples.size(), 1u);
      EXPECT_EQ(e.samples[0].source, folder.path(2));
      EXPECT_EQ(e.samples[0].op, "readers.file");
      const std::string& what = e.samples[0].message;
      for (const char* part : {"at least 3.0 MiB", "3.0 MiB at most", "memory_limit"})
        EXPECT_NE(what.find(part), what.npos) << what;
    }
    EXPECT_EQ(labels(*p.run()).size(), 4u) << "the pipeline did not go on";
  }
}

TEST(Memory, ASampleAboveItsWorkersShareIsMade) {
  const SampleFolder folder(20, [](int i) { return size_t(150'000 + 7'000 * i); });
  PipelineOptions ample = limited_options("simple", 1, 4);
  ample.memory_limit = 0;
  const auto want = made(wide_graph(folder), ample, 40);
  for (int threads : {1, 3, 64})
    for (int depth : {1, 3}) {
      Pipeline p(wide_graph(folder), limited_options("pipelined", threads, 4, depth));
      EXPECT_EQ(made(p, 40), want) << threads << " " << depth;
      EXPECT_LE(p.stats().executor.scratch, kLimit / 8 * 3);
    }
}

TEST(Memory, LargeSamplesAndTightOutputsTogether) {
  const SampleFolder folder(12, [](int i) { return size_t(300'000 + 25'000 * i); });
  PipelineOptions ample = limited_options("simple", 1, 4);
  ample.memory_limit = 0;
  const auto want = made(raw_graph(folder), ample, 36);
  for (int threads : {2, 16})
    for (int depth : {1, 5}) {
      PipelineOptions o = limited_options("pipelined", threads, 4, depth);
      o.memory_limit = 2 * ((4 * 640 + 8) << 10);
      EXPECT_EQ(made(raw_graph(folder), o, 36), want) << threads << " " << depth;
    }
}

// The simple executor keeps more in memory. A sample that does not fit is made with rewrites.
TEST(Memory, RewritesThatAreOffDoNotMakeASampleBad) {
  const SampleFolder folder(3, [](int i) { return size_t(i == 1 ? 800 << 10 : 100); });
  const auto want = made(wide_graph(folder), limited_options("pipelined"), 3);
  EXPECT_EQ(want.size(), 3u);
  EXPECT_EQ(made(wide_graph(folder), limited_options("simple"), 3), want);
  for (const char* executor : {"simple", "pipelined"}) {
    PipelineOptions o = limited_options(executor);
    o.fuse = false;  // by the user's wish
    o.on_error = OnError::kSkip;
    Pipeline p(wide_graph(folder), o);
    EXPECT_EQ(made(p, 3).size(), 2u);
    EXPECT_EQ(sources(p), std::vector<std::string>{folder.path(1)});
  }
}

TEST(Memory, ASampleWhoseOutputsFitNoBatchIsBad) {
  const SampleFolder folder(6, [](int i) { return size_t(i == 4 ? 1200 << 10 : 1000); });
  for (const char* executor : {"simple", "pipelined"})
    for (int64_t batch : {1, 2, 6}) {
      PipelineOptions o = limited_options(executor, 2, batch);
      o.on_error = OnError::kSkip;
      Pipeline p(file_graph(folder), o);  // casts to 4 bytes
      EXPECT_EQ(made(p, 6).size(), 5u);
      EXPECT_EQ(sources(p), std::vector<std::string>{folder.path(4)});
      EXPECT_NE(p.quarantine()[0].last.message.find("half of memory_limit"), std::string::npos);
    }
}

TEST(Memory, AnOutputThatIsNamedTwiceCountsTwice) {
  const SampleFolder folder(3, [](int i) { return size_t(i == 1 ? 2200 << 10 : 1000); });
  for (const char* executor : {"simple", "pipelined"}) {
    PipelineOptions o = limited_options(executor, 2, 1);
    o.on_error = OnError::kSkip;
    EXPECT_EQ(made(raw_graph(folder), o, 3).size(), 3u);
    Graph twice = raw_graph(folder);
    twice.outputs.push_back(twice.outputs[1]);
    EXPECT_EQ(made(twice, o, 3).size(), 2u);
  }
}

size_t named_limit(const BudgetError& e) {
  const std::string what = e.what(), words = "memory_limit to at least ";
  const size_t at = what.find(words);
  EXPECT_NE(at, what.npos) << what;
  return at == what.npos ? 0 : std::stoull(what.substr(at + words.size()));
}

// A function that may not be called again prevents the step from being tried.
TEST(Memory, ALimitThatMayNotSufficeIsCalledSo) {
  for (const bool is_stateful : {false, true}) {
    Graph g;
    const Ref draws{
        g.add({.op = "random.uniform", .arguments = {{"shape", std::vector<int64_t>{300 << 10}}}}),
        0};
    const Ref one{g.add({.op = "test.call",
                         .inputs = {Ref{g.add({.op = "random.uniform"}), 0}},
                         .function = std::make_shared<NoFunction>(is_stateful)}),
                  0};
    g.outputs = {draws, one};
    for (const char* executor : {"simple", "pipelined"}) {
      Pipeline p(g, limited_options(executor, 2, 16));
      const std::string what = message<BudgetError>([&] { (void)p.run(); });
      EXPECT_EQ(what.find("perhaps more") != what.npos, is_stateful) << what;
    }
  }
}

TEST(Memory, SamplesThatFitOnlySinglySayWhichLimitSuffices) {
  const SampleFolder folder(8, [](int) { return size_t{1500} << 10; });
  Graph fixed;
  fixed.outputs = {{fixed.add({.op = "random.uniform",
                               .arguments = {{"shape", std::vector<int64_t>{300 << 10}}}}),
                    0}};
  for (const char* executor : {"simple", "pipelined"})
    for (const Graph& g : {raw_graph(folder), fixed}) {
      PipelineOptions o = limited_options(executor, 2, 4);
      o.on_error = OnError::kSkip;
      bool is_made = false;
      int tries = 0;
      for (; !is_made && tries < 4; ++tries) {
        Pipeline p(g, o);
        try {
          EXPECT_EQ(p.run()->batches[0].samples.size(), 4u);
          is_made = true;
        } catch (const BudgetError& e) {
          EXPECT_GT(static_cast<int64_t>(named_limit(e)), o.memory_limit);
          o.memory_limit = static_cast<int64_t>(named_limit(e));
          EXPECT_THROW((void)p.run(), BudgetError);
        }
      }
      EXPECT_TRUE(is_made);
      EXPECT_GT(tries, 1);
    }
}

TEST(Memory, TrimGivesBackWhatWasRead) {
  const SampleFolder folder(2, [](int) { return size_t{100'000}; });
  const auto plan = std::make_shared<const Plan>(label_graph(folder), PlanOptions{});
  HostPool pool;
  Feeds feeds(plan, 0);
  ExecutorOptions o{.read_ahead_limit = SIZE_MAX};
  o.settings.io_threads = 0;
  Reader reader({plan, o, pool, {0}, feeds});
  EXPECT_EQ(reader.read(0), 100'000u);
  EXPECT_GE(reader.cached(), 100'000u);
  reader.trim();
  EXPECT_EQ(reader.cached(), 0u);
}

TEST(Memory, ASampleIsNeverLargerThanItsRoomInAWholeBatch) {
  Graph g;
  g.outputs = {{g.add({.op = "random.uniform"}), 0}};
  const Plan plan(g, {.batch_size = 2});
  ExecutorOptions o;
  o.output_limit = SIZE_MAX;
  Step step(plan, 0, {0}, nullptr, o);
  HostPool pool;
  ASSERT_TRUE(step.slots.allocate(pool, false));
  const TensorType room = plan.slot(0).type;
  TensorType large = room;
  large.shape.push_back(3);
  (void)step.slots.reserve(0, 0, room, pool);
  try {
    (void)step.slots.reserve(0, 1, large, pool);
    FAIL() << "it would lie beyond the batch";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(room.str()), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(large.str()), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace stoker
