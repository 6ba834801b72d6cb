// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// What becomes of bad samples under each policy, with any batch size, shards and executor.
#include "run/testing.h"

namespace stoker {
namespace {

// Makes opening some files fail.
class Broken final : public io::FaultInjector {
 public:
  explicit Broken(std::set<std::string> paths) : paths_(std::move(paths)) {}
  int on_open(const std::string& path) override { return paths_.contains(path) ? ENOENT : 0; }

 private:
  std::set<std::string> paths_;
};

PipelineOptions policy_options(const char* on_error, int64_t batch = 4,
                               const char* executor = "pipelined") {
  PipelineOptions o;
  o.batch_size = batch;
  o.num_threads = 2;
  o.seed = 3;
  set_settings(o, {{"executor", std::string(executor)}, {"on_error", std::string(on_error)}});
  return o;
}

TEST(Policy, RaiseNamesEverySampleAndGoesOn) {
  SampleFolder folder(12);
  Broken broken({folder.path(1), folder.path(2)});
  io::WithFaults faults(broken);
  Pipeline p(file_graph(folder), policy_options("raise"));
  try {
    (void)p.run();
    FAIL() << "no error";
  } catch (const BatchError& e) {
    ASSERT_EQ(e.samples.size(), 2u);
    EXPECT_EQ(e.samples[0].source, folder.path(1));
    EXPECT_EQ(e.samples[1].in_batch, 2);
    EXPECT_EQ(e.samples[0].op, "readers.file");
    EXPECT_NE(std::string(e.what()).find(folder.path(2)), std::string::npos) << e.what();
  }
  EXPECT_EQ(labels(*p.run()), (std::vector<int32_t>{4, 5, 6, 7}));
  EXPECT_EQ(p.quarantine().size(), 2u);
}

TEST(Policy, SkipHandsOutAShorterBatch) {
  SampleFolder folder(12, [](int i) { return size_t(4 + i); });
  Broken broken({folder.path(1), folder.path(2)});
  io::WithFaults faults(broken);
  for (const char* executor : {"pipelined", "simple"}) {
    Pipeline p(file_graph(folder), policy_options("skip", 4, executor));
    const Outputs out = *p.run();
    EXPECT_EQ(labels(out), (std::vector<int32_t>{0, 3}));
    ASSERT_EQ(out.batches[1].samples.size(), 2u);
    EXPECT_EQ(out.batches[1].samples[1].view.shape, (Shape{7}));
    EXPECT_EQ(*out.batches[1].samples[1].view.as<int32_t>(), 3);
    EXPECT_EQ(labels(*p.run()), (std::vector<int32_t>{4, 5, 6, 7}));
  }
}

// All files of one folder are missing. Counts the others that are opened.
class BrokenFolder final : public io::FaultInjector {
 public:
  explicit BrokenFolder(std::string folder) : folder_(std::move(folder)) {}
  int on_open(const std::string& path) override {
    if (path.starts_with(folder_)) return ENOENT;
    ++opened;
    return 0;
  }
  std::atomic<int> opened{0};

 private:
  std::string folder_;
};

TEST(Policy, WhatIsReadAheadForABadSampleMakesRoomForMore) {
  const SampleFolder bad(4), good(4);
  BrokenFolder broken(bad.root());
  io::WithFaults faults(broken);
  Graph g = file_graph(bad);
  const int others = g.add({.op = "readers.file",
                            .name = "others",
                            .arguments = {{"files", good.names()}, {"file_root", good.root()}}});
  g.outputs = {{0, 1}, {others, 1}};
  PipelineOptions o = policy_options("skip", 1);
  o.read_ahead_limit = 16 * io::Fetcher::kEntryCost;
  Pipeline p(g, o);
  for (int step = 0; step < 40; ++step) EXPECT_THROW((void)p.run(), BatchError);
  EXPECT_GE(broken.opened, 40);
}

TEST(Policy, TheQuarantineHoldsEachSampleOnceAndOnlyMadeOnesCount) {
  SampleFolder folder(4);
  Broken broken({folder.path(0), folder.path(1), folder.path(2), folder.path(3)});
  io::WithFaults faults(broken);
  for (const char* executor : {"pipelined", "simple"}) {
    Pipeline p(file_graph(folder), policy_options("skip", 4, executor));
    for (int epoch = 0; epoch < 5; ++epoch) EXPECT_THROW((void)p.run(), BatchError);
    const auto bad = p.quarantine();
    ASSERT_EQ(bad.size(), 4u);
    EXPECT_EQ(bad[2].last.source, folder.path(2));
    EXPECT_EQ(bad[2].last.who.epoch, 4);
    EXPECT_EQ(bad[2].times, 5);
    EXPECT_EQ(p.stats().failures, 20);
    EXPECT_EQ(p.stats().executor.samples, 0);
  }
}

TEST(Policy, ABatchThatLosesEverythingRaises) {
  SampleFolder folder(6);
  Broken broken({folder.path(2), folder.path(3)});
  io::WithFaults faults(broken);
  Pipeline p(file_graph(folder), policy_options("skip", 2));
  EXPECT_EQ(labels(*p.run()), (std::vector<int32_t>{0, 1}));
  EXPECT_THROW((void)p.run(), BatchError);
  EXPECT_EQ(labels(*p.run()), (std::vector<int32_t>{4, 5}));
}

// The labels of so many steps; {-1} for one that was dropped.
std::vector<std::vector<int32_t>> steps_of(Pipeline& p, int steps) {
  std::vector<std::vector<int32_t>> all;
  for (int s = 0; s < steps; ++s) {
    const Outputs out = *p.run();
    EXPECT_EQ(out.batches.empty(), out.is_lost);
    all.push_back(out.is_lost ? std::vector<int32_t>{-1} : labels(out));
  }
  return all;
}

TEST(Policy, DropLeavesOutABatchWithoutAGoodSample) {
  SampleFolder folder(6);
  Broken broken({folder.path(1), folder.path(2), folder.path(3), folder.path(4), folder.path(5)});
  io::WithFaults faults(broken);
  for (const char* executor : {"pipelined", "simple"}) {
    Pipeline p(file_graph(folder), policy_options("drop", 2, executor));
    for (int e = 0; e < 2; ++e) {
      EXPECT_TRUE(p.begins_epoch());
      EXPECT_EQ(steps_of(p, 2), (std::vector<std::vector<int32_t>>{{0}, {-1}}));
      EXPECT_FALSE(p.begins_epoch());
      const Outputs last = *p.run();
      EXPECT_TRUE(last.is_lost && last.ends_epoch);
      EXPECT_EQ(last.failures.size(), 2u);
      EXPECT_EQ(last.missing, 2);
    }
    EXPECT_EQ(p.stats().dropped, 4);
    EXPECT_EQ(p.stats().failures, 10);
    EXPECT_GE(p.stats().executor.samples, 2);  // also those that are made ahead
    const auto bad = p.quarantine();
    ASSERT_EQ(bad.size(), 5u);
    EXPECT_EQ(bad[3].last.source, folder.path(4));
    EXPECT_EQ(bad[3].times, 2);
  }
}

TEST(Policy, AStateStandsBeforeOrBehindADroppedBatch) {
  SampleFolder folder(8);
  Broken broken({folder.path(2), folder.path(3), folder.path(6), folder.path(7), folder.path(4)});
  io::WithFaults faults(broken);
  Pipeline whole(file_graph(folder), policy_options("drop", 2, "simple"));
  const auto want = steps_of(whole, 12);
  EXPECT_EQ(want[1], (std::vector<int32_t>{-1}));
  EXPECT_EQ(want[2], (std::vector<int32_t>{5}));
  Pipeline first(file_graph(folder), policy_options("drop", 2));
  for (int at = 0; at < 8; ++at) {
    Pipeline second(file_graph(folder), policy_options("drop", 2));
    EXPECT_TRUE(second.restore(first.state(), false).empty());
    EXPECT_EQ(second.begins_epoch(), at % 4 == 0);
    EXPECT_EQ(steps_of(second, 4), std::vector(want.begin() + at, want.begin() + at + 4)) << at;
    (void)steps_of(first, 1);
  }
}

TEST(Policy, DropGivesTheSamplesOfSkipUnderAnyTopology) {
  SampleFolder folder(24);
  std::set<std::string> paths;
  for (const int i : {1, 2, 3, 7, 8, 11, 12, 13, 14, 17, 20}) paths.insert(folder.path(i));
  Broken broken(paths);
  io::WithFaults faults(broken);
  const Arguments shuffled = {{"random_shuffle", true}};
  Pipeline judge(file_graph(folder, shuffled), policy_options("skip", 24, "simple"));
  const Outputs all = *judge.run();
  for (const int64_t shards : {1, 3})
    for (const int64_t batch : {1, 2, 4})
      for (const char* executor : {"pipelined", "simple"}) {
        std::map<int64_t, std::string> got;  // by position
        int64_t dropped = 0;
        for (int64_t shard = 0; shard < shards; ++shard) {
          Arguments reader = shuffled;
          reader["num_shards"] = shards;
          reader["shard_id"] = shard;
          Pipeline p(file_graph(folder, reader), policy_options("drop", batch, executor));
          for (int64_t s = 0; s < 24 / shards / batch; ++s) {
            const Outputs out = *p.run();
            if (out.is_lost) continue;
            for (size_t i = 0; i < out.batches[0].samples.size(); ++i)
              got[(s * shards + shard) * batch + out.batches[0].samples[i].in_batch] =
                  bytes_of(out, i);
          }
          dropped += p.stats().dropped;
        }
        if (batch == 1) {
          EXPECT_EQ(dropped, 11);
        }
        ASSERT_EQ(got.size(), all.batches[0].samples.size());
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_EQ(got.at(all.batches[0].samples[i].in_batch), bytes_of(all, i));
      }
}

TEST(Policy, ReplaceIsTheSameUnderAnyTopology) {
  SampleFolder folder(12);
  Broken broken({folder.path(1), folder.path(2), folder.path(7)});
  io::WithFaults faults(broken);
  Pipeline whole(file_graph(folder, {{"random_shuffle", true}}),
                 policy_options("replace", 24, "simple"));
  const Outputs want = *whole.run();
  EXPECT_EQ(want.batches[0].samples.size(), 24u);
  for (int32_t l : labels(want)) EXPECT_TRUE(l != 1 && l != 2 && l != 7);
  for (int shard : {0, 1, 2}) {
    Pipeline p(file_graph(folder, {{"random_shuffle", true},
                                   {"shard_id", int64_t{shard}},
                                   {"num_shards", int64_t{3}}}),
               policy_options("replace", 4));
    for (int s = 0; s < 2; ++s) {
      const Outputs out = *p.run();
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(bytes_of(out, i), bytes_of(want, s * 12 + shard * 4 + i));
    }
  }
}

TEST(Policy, ReplaceGivesUpWhenNothingIsLeft) {
  SampleFolder folder(3);
  Broken broken({folder.path(0), folder.path(1), folder.path(2)});
  io::WithFaults faults(broken);
  Pipeline p(file_graph(folder), policy_options("replace", 1));
  try {
    (void)p.run();
    FAIL() << "no error";
  } catch (const BatchError& e) {
    EXPECT_EQ(e.samples.size(), 17u);  // the sample and sixteen replacements
    const std::string begin = "1 of 1 samples could not be made, after 17 failures:";
    EXPECT_EQ(std::string(e.what()).substr(0, begin.size()), begin);
  }
}

TEST(Policy, TheFailuresOfReplacementsAreInTheOrderOfTheTries) {
  SampleFolder folder(8);
  std::set<std::string> all;
  for (int i = 0; i < 8; ++i) all.insert(folder.path(i));
  Broken broken(all);
  io::WithFaults faults(broken);
  const auto sources = [&](const char* executor) {
    std::vector<std::string> found;
    Pipeline p(file_graph(folder), policy_options("replace", 8, executor));
    try {
      (void)p.run();
    } catch (const BatchError& e) {
      for (const SampleFailure& f : e.samples) found.push_back(f.source);
    }
    return found;
  };
  const std::vector<std::string> simple = sources("simple");
  ASSERT_EQ(simple.size(), 8u * 17u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(simple[17 * i], folder.path(static_cast<int>(i)));
  EXPECT_EQ(sources("pipelined"), simple);
}

}  // namespace
}  // namespace stoker
