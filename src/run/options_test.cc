// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Settings: what follows from a row, and what each of a pipeline's refuses.
#include "run/options.h"

#include "run/testing.h"

namespace stoker {
namespace {

// Settings as in options.h; `tint` is the one that a test adds.
struct Few {
  OnError on_error = OnError::kRaise;
  std::optional<int> tint;

  static constexpr auto settings =
      std::tuple(arg(&Few::on_error, "on_error", "What a damaged sample does."),
                 arg(&Few::tint, "tint", "How red the samples are.", between(0, 9)));
};

struct Forgotten {
  int64_t described = 1;
  bool not_described = false;

  static constexpr auto settings =
      std::tuple(arg(&Forgotten::described, "described", "Has a row."));
};

TEST(Options, AMemberWithoutARowIsFound) {
  EXPECT_TRUE(kAllDescribed<Few>);
  EXPECT_TRUE(kAllDescribed<PipelineOptions>);
  EXPECT_FALSE(kAllDescribed<Forgotten>);
}

TEST(Options, ARowIsDescribed) {
  const std::vector<ArgumentInfo> all = describe_settings<Few>();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].names, (std::vector<std::string>{"raise", "skip", "replace", "drop"}));
  EXPECT_EQ(all[0].fallback, Value(std::string("raise")));
  EXPECT_EQ(all[1].name, "tint");
  EXPECT_EQ(all[1].type, "int");
  EXPECT_EQ(all[1].help, "How red the samples are.");
  EXPECT_EQ(all[1].fallback, Value());
  EXPECT_EQ(all[1].range.high, 9);
}

TEST(Options, ARowIsSetReadAndPutIntoWords) {
  Few few;
  EXPECT_EQ(settings_in_words(few), "");
  set_settings(few, {{"tint", int64_t{4}}});
  EXPECT_EQ(few.tint, 4);
  EXPECT_EQ(settings_in_words(few), "tint=4");
  set_settings(few, {{"on_error", std::string("skip")}});
  EXPECT_EQ(few.on_error, OnError::kSkip);
  EXPECT_EQ(settings_in_words(few), "on_error='skip', tint=4");
  EXPECT_EQ(values_of(few), (Arguments{{"on_error", std::string("skip")}, {"tint", int64_t{4}}}));
  set_settings(few, {{"tint", Value()}});
  EXPECT_FALSE(few.tint);
}

TEST(Options, ARowIsChecked) {
  Few few;
  EXPECT_EQ(message<GraphError>([&] { set_settings(few, {{"tint", int64_t{10}}}); }),
            "Pipeline: argument 'tint' is 10, expected 0 to 9");
  EXPECT_EQ(message<GraphError>([&] { set_settings(few, {{"tint", std::string("red")}}); }),
            "Pipeline: argument 'tint' expects int, got 'red'");
  EXPECT_EQ(message<GraphError>([&] { set_settings(few, {{"on_error", std::string("skipp")}}); }),
            "Pipeline: argument 'on_error' expects one of raise, skip, replace, drop, got 'skipp'. "
            "Did you mean 'skip'?");
  few.tint = -1;
  EXPECT_EQ(message<GraphError>([&] { check_settings(few); }),
            "Pipeline: argument 'tint' is -1, expected 0 to 9");
}

TEST(Options, APipelineRefusesWrongOnes) {
  const SampleFolder folder(2);
  const auto refused = [&](const PipelineOptions& o) {
    return message<GraphError>([&] { Pipeline p(raw_graph(folder), o); });
  };
  EXPECT_EQ(refused({}), "batch_size is required");
  EXPECT_EQ(refused({.batch_size = 0}),
            "Pipeline: argument 'batch_size' is 0, expected 1 to 2147483647");
  EXPECT_EQ(refused({.batch_size = 1, .memory_limit = -1}),
            "Pipeline: argument 'memory_limit' is -1, expected at least 0");
  EXPECT_EQ(refused({.batch_size = 1, .shard_id = 2, .num_shards = 2}),
            "Pipeline: shard_id is 2, but there are num_shards=2");
}

TEST(Options, SharesOfMemoryAreThoseOfTheHelp) {
  EXPECT_EQ(MemoryShares::kBatches.of(1001), 500);
  EXPECT_EQ(MemoryShares::kScratch.of(1001), 375);
  EXPECT_EQ(MemoryShares::kAhead.of(1001), 125);
  for (const size_t bytes : {1, 7, 1000})
    EXPECT_EQ(
        MemoryShares::kBatches.of(static_cast<int64_t>(MemoryShares::kBatches.limit_for(bytes))),
        static_cast<int64_t>(bytes));
  EXPECT_EQ(MemoryShares::kScratch.in_words(), "three eighths of memory_limit");
  std::string help;
  for (const ArgumentInfo& a : describe_settings<PipelineOptions>())
    if (a.name.ends_with("_limit")) help += a.help;
  for (const MemoryShare& share :
       {MemoryShares::kBatches, MemoryShares::kScratch, MemoryShares::kAhead})
    EXPECT_NE(help.find(std::string(" ") + share.words + " of "), std::string::npos) << share.words;
}

TEST(Options, AnErrorPolicyAnswersForEachValue) {
  const auto answers = [](OnError on_error) {
    const ErrorPolicy p{on_error};
    return std::vector<bool>{p.continues(), p.leaves_samples_out(), p.replaces_samples(),
                             p.drops_empty_steps()};
  };
  EXPECT_EQ(answers(OnError::kRaise), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(answers(OnError::kSkip), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(answers(OnError::kReplace), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(answers(OnError::kDrop), (std::vector<bool>{true, true, false, true}));
  for (const OnError o : {OnError::kRaise, OnError::kSkip, OnError::kReplace})
    EXPECT_EQ(ErrorPolicy{o}.without_dropping().on_error, o);
  EXPECT_STREQ(ErrorPolicy{OnError::kDrop}.without_dropping().name(), "skip");
}

TEST(Options, ThePlanTellsTheSettingsInUse) {
  const SampleFolder folder(2);
  const Pipeline p(raw_graph(folder), {.batch_size = 1, .demand = false});
  const std::string line = p.plan_in_words().substr(0, p.plan_in_words().find('\n'));
  EXPECT_EQ(line, "settings: batch_size=1, num_threads=" + std::to_string(usable_cpus().size()) +
                      ", seed=" + std::to_string(p.seed()) + ", memory_limit=" +
                      std::to_string(p.stats().memory_limit) + ", io_threads=2, demand=False");
}

}  // namespace
}  // namespace stoker
