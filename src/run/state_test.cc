// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// States: where a restored pipeline goes on, and what it refuses or warns of.

#include <set>

#include "base/testing.h"
#include "run/testing.h"

namespace stoker {
namespace {

PipelineOptions options(int64_t batch, std::optional<int64_t> seed = 5) {
  PipelineOptions o;
  o.batch_size = batch;
  o.num_threads = 2;
  o.seed = seed;
  return o;
}

std::vector<std::string> take(Pipeline& p, int steps) {
  std::vector<std::string> all;
  for (int s = 0; s < steps; ++s) {
    const Outputs out = *p.run();
    for (size_t i = 0; i < out.batches[0].samples.size(); ++i) all.push_back(bytes_of(out, i));
  }
  return all;
}

TEST(State, GoesOnFromEveryPositionOfAnEpoch) {
  SampleFolder folder(11);
  for (const char* end : {"continue", "pad", "drop"}) {
    auto graph = [&] {
      return file_graph(folder, {{"random_shuffle", true}, {"epoch_end", std::string(end)}});
    };
    Pipeline whole(graph(), options(2));
    const auto want = take(whole, 14);
    for (int at = 0; at < 9; ++at) {
      Pipeline first(graph(), options(2)), second(graph(), options(2));
      (void)take(first, at);
      EXPECT_TRUE(second.restore(first.state(), false).empty());
      EXPECT_EQ(take(second, 5),
                std::vector<std::string>(want.begin() + 2 * at, want.begin() + 2 * (at + 5)))
          << end << at;
    }
  }
}

TEST(State, GoesOnWithAnotherBatchSizeAndMoreShards) {
  SampleFolder folder(23);
  auto graph = [&](int shard, int shards) {
    return file_graph(
        folder,
        {{"random_shuffle", true}, {"shard_id", int64_t{shard}}, {"num_shards", int64_t{shards}}});
  };
  Pipeline whole(graph(0, 1), options(1));
  const auto want = take(whole, 60);
  for (int steps = 0; steps < 3; ++steps) {
    Pipeline before(graph(1, 2), options(5));  // two shards of five samples each: ten a step
    (void)take(before, steps);
    std::multiset<std::string> made[2];  // by step; shards share what is left of an epoch
    for (int shard = 0; shard < 3; ++shard) {
      Pipeline after(graph(shard, 3), options(4));
      (void)after.restore(before.state(), false);
      const auto got = take(after, 2);
      for (size_t i = 0; i < 8; ++i) made[i / 4].insert(got[i]);
    }
    for (int step = 0; step < 2; ++step) {
      const auto begin = want.begin() + steps * 10 + step * 12;
      EXPECT_EQ(made[step], std::multiset<std::string>(begin, begin + 12)) << steps << step;
    }
  }
}

TEST(State, SkippedStepsLeadWhereTheyWouldHaveLed) {
  SampleFolder folder(11);
  for (const char* end : {"continue", "pad", "drop"}) {
    const Graph graph =
        file_graph(folder, {{"random_shuffle", true}, {"epoch_end", std::string(end)}});
    for (int at = 0; at < 5; ++at) {
      Pipeline whole(graph, options(2)), skips(graph, options(2));
      (void)take(whole, at + 4);
      (void)take(skips, at);
      skips.skip(4);
      EXPECT_EQ(skips.state(), whole.state());
      EXPECT_EQ(take(skips, 3), take(whole, 3)) << end << at;
    }
  }
}

TEST(State, WhatIsInFlightDoesNotCount) {
  SampleFolder folder(20);
  Pipeline p(file_graph(folder), options(2));
  (void)p.run();
  const std::string early = p.state();
  p.schedule();
  EXPECT_EQ(p.state(), early);
}

TEST(State, RefusesAnotherOrder) {
  SampleFolder folder(20), larger(21);
  Pipeline p(file_graph(folder, {{"random_shuffle", true}}), options(2));
  const std::string state = p.state();
  Pipeline other_key(file_graph(folder, {{"random_shuffle", true}, {"seed", int64_t{9}}}),
                     options(2));
  EXPECT_THROW((void)other_key.restore(state, false), StateError);
  EXPECT_EQ(other_key.restore(state, true).size(), 1u);
  Pipeline other_size(file_graph(larger, {{"random_shuffle", true}}), options(2));
  EXPECT_THROW((void)other_size.restore(state, false), StateError);
  Pipeline unshuffled(file_graph(folder), options(2));
  EXPECT_THROW((void)unshuffled.restore(state, false), StateError);
}

TEST(State, RefusesOtherFilesButNotAnotherFolder) {
  SampleFolder folder(6), elsewhere(6);
  Pipeline p(file_graph(folder), options(2));
  const std::string state = p.state();
  Pipeline moved(file_graph(elsewhere), options(2));
  EXPECT_TRUE(moved.restore(state, false).empty());
  Pipeline relabelled(file_graph(folder, {{"labels", std::vector<int64_t>{0, 1, 2, 3, 4, 6}}}),
                      options(2));
  EXPECT_THROW((void)relabelled.restore(state, false), StateError);
  EXPECT_EQ(relabelled.restore(state, true).size(), 1u);
  Graph renamed = file_graph(folder);
  auto names = folder.names();
  std::swap(names[0], names[1]);
  renamed.nodes[0].arguments["files"] = names;
  Pipeline swapped(renamed, options(2));
  EXPECT_THROW((void)swapped.restore(state, false), StateError);
  const size_t at = state.find(",\"files\":");
  const std::string older = state.substr(0, at) + state.substr(state.find('}', at));
  EXPECT_TRUE(swapped.restore(older, false).empty());
}

TEST(State, OtherArgumentsWarn) {
  SampleFolder folder(6);
  Pipeline p(file_graph(folder), options(2));
  Graph edited = file_graph(folder);
  edited.nodes[2].arguments["range"] = std::vector<double>{0, 2};
  edited.nodes[1].arguments["dtype"] = std::string("int64");
  Pipeline other(edited, options(2));
  const auto warnings = other.restore(p.state(), false);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0], "cast 'cast_0': dtype was 'int32', now it is 'int64'");
  EXPECT_EQ(warnings[1],
            "random.uniform 'random_uniform_0': range was the default, now it is [0.0, 2.0]");
}

TEST(State, RefusesContiguousShardsOnAnotherCount) {
  SampleFolder folder(20);
  auto graph = [&](int64_t shards) { return file_graph(folder, {{"num_shards", shards}}); };
  Pipeline two(graph(2), options(2)), three(graph(3), options(2)), same(graph(2), options(5));
  EXPECT_THROW((void)three.restore(two.state(), true), StateError);
  EXPECT_TRUE(same.restore(two.state(), false).empty());
}

TEST(State, RefusesAnotherKeyOfChanceAndWarnsOfOtherEdits) {
  SampleFolder folder(8);
  Pipeline p(file_graph(folder), options(2));
  const std::string state = p.state();
  Graph keyed = file_graph(folder);
  keyed.nodes.back().key = "name:other";
  Pipeline other(keyed, options(2));
  EXPECT_THROW((void)other.restore(state, false), StateError);
  Graph edited = file_graph(folder);
  edited.outputs.erase(edited.outputs.begin() + 1);  // the cast is left out
  Pipeline shorter(edited, options(2));
  EXPECT_EQ(shorter.restore(state, false).size(), 1u);
}

TEST(State, ADrawnSeedIsKeptAndAnotherSeedWarns) {
  SampleFolder folder(8);
  Pipeline drawn(file_graph(folder), options(2, std::nullopt)),
      again(file_graph(folder), options(2, std::nullopt));
  EXPECT_NE(drawn.seed(), again.seed());
  (void)again.restore(drawn.state(), false);
  EXPECT_EQ(drawn.seed(), again.seed());
  Pipeline fixed(file_graph(folder), options(2, 1));
  EXPECT_EQ(fixed.restore(drawn.state(), false).size(), 1u);
  EXPECT_EQ(fixed.seed(), 1u);
}

TEST(State, RefusesCursorsThatNoPipelineReaches) {
  SampleFolder folder(11);
  for (const bool shuffle : {false, true}) {
    Pipeline p(file_graph(folder, {{"random_shuffle", shuffle}}), options(2));
    const std::string state = p.state(), first = "\"cursor\":0";
    const auto with = [&](const std::string& cursor) {
      return std::string(state).replace(state.find(first), first.size(), "\"cursor\":" + cursor);
    };
    for (const char* cursor : {"2305843009213693953", "9223372036854775807", "9223372036854775808",
                               "18446744073709551615", "1e300", "-1", "3.5", "true", "\"3\""})
      EXPECT_THROW((void)p.restore(with(cursor), true), StateError) << cursor;
    EXPECT_TRUE(p.restore(with("2305843009213693952"), false).empty());
    EXPECT_EQ(take(p, 3).size(), 6u);
  }
}

TEST(State, RefusesSeedsAndVersionsThatNoPipelineHas) {
  SampleFolder folder(4);
  Pipeline p(file_graph(folder), options(2, std::nullopt));
  const std::string state = p.state(), seed = "\"seed\":" + std::to_string(p.seed());
  const auto restore_with = [&](const std::string& what, const std::string& other) {
    (void)p.restore(std::string(state).replace(state.find(what), what.size(), other), true);
  };
  EXPECT_THROW(restore_with(seed, "\"seed\":9223372036854775808"), StateError);
  EXPECT_THROW(restore_with("\"version\":1", "\"version\":0"), StateError);
  restore_with(seed, "\"seed\":9223372036854775807");
  EXPECT_NO_THROW(check_options(p.settings()));
}

TEST(State, RefusesWhatIsNoState) {
  SampleFolder folder(4);
  Pipeline p(file_graph(folder), options(2));
  const auto complaint = [&](const char* text) {
    return message<StateError>([&] { (void)p.restore(text, true); });
  };
  for (const char* text : {"{}", "[]", "null", "{\"a\": 1}", "{\"format\": 1}"})
    EXPECT_EQ(complaint(text), "this is not a pipeline's state") << text;
  for (const char* text : {"", "run/state.json", "{\"format\": \"stoker st"})
    EXPECT_NE(complaint(text).find("no file's name"), std::string::npos) << text;
  EXPECT_NE(complaint("{\"format\": \"stoker state\"}").find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace stoker
