// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "draw/graph.h"
#include "draw/trial.h"
#include "hunt.h"

namespace stoker::torture {
namespace {

TEST(Torture, EqualSeedsGiveEqualTrials) {
  std::set<std::string> texts;
  for (uint64_t seed : {1, 2})
    for (int64_t number = 0; number < 100; ++number) {
      const std::string text = to_text(draw_trial(seed, number, {}));
      EXPECT_EQ(text, to_text(draw_trial(seed, number, {})));
      texts.insert(text);
    }
  EXPECT_EQ(texts.size(), 200u);
}

TEST(Torture, ATextSaysAllOfATrial) {
  for (int64_t number = 0; number < 200; ++number) {
    const std::string text = to_text(draw_trial(3, number, {}));
    EXPECT_EQ(to_text(read(text)), text);
  }
}

TEST(Torture, MostGraphsAreGoodAndAllOperatorsTakePart) {
  std::set<std::string> seen;
  int good = 0, of_sides_that_differ = 0;
  for (int64_t number = 0; number < 480; ++number) {
    const Trial t = draw_trial(4, number, {});
    of_sides_that_differ += t.has_sides_that_differ();
    for (const Node& n : t.nodes) seen.insert(n.op);
    try {
      (void)check(graph_of(t, {}, ""));
      ++good;
    } catch (const GraphError&) {
      continue;
    }
  }
  EXPECT_GT(good, 360);
  EXPECT_LT(good, 480);
  EXPECT_GT(of_sides_that_differ, 4);
  for (const OperatorType& type : all_operators())
    EXPECT_EQ(seen.contains(type.name), is_drawn(type)) << type.name;
}

void expect_found(const std::string& op, std::initializer_list<Wrong> as, int64_t trials) {
  Hunt h;
  h.operators = {op};
  h.seconds = 300;  // only bounds a torture that finds nothing
  h.trials = trials;
  h.most_findings = 1;
  h.limits.seconds = 5;
  h.patience = 2;
  h.seconds_to_shrink = 90;  // on a busy machine
  std::ostringstream out;
  const std::vector<Finding> found = hunt(h, out);
  ASSERT_EQ(found.size(), 1u) << out.str();
  const Finding& f = found[0];
  EXPECT_EQ(std::count(as.begin(), as.end(), f.complaint.wrong), 1) << out.str();
  EXPECT_TRUE(f.is_alone);
  ASSERT_EQ(f.trial.nodes.size(), 2u) << out.str();
  EXPECT_EQ(f.trial.nodes[1].op, op);
  EXPECT_LE(f.trial.ways.size(), 1u) << out.str();
  EXPECT_EQ(f.trial.common.batch, 1) << out.str();
  EXPECT_NE(out.str().find(to_text(f.trial)), std::string::npos);
  EXPECT_TRUE(is_same(examine_apart(read(to_text(f.trial)), h.limits), f.complaint));
}

TEST(Torture, FindsACrash) { expect_found("planted_crash", {Wrong::kCrash}, 200); }
TEST(Torture, FindsAHang) { expect_found("planted_hang", {Wrong::kHang}, 200); }
TEST(Torture, FindsOtherBytes) { expect_found("planted_other", {Wrong::kOther}, 200); }
TEST(Torture, FindsAnErrorThatIsNotOfStoker) {
  expect_found("planted_foreign", {Wrong::kError}, 200);
}
// A leak checker tells at the end of a process.
TEST(Torture, FindsALeak) { expect_found("planted_leak", {Wrong::kGrowth, Wrong::kCrash}, 400); }

}  // namespace
}  // namespace stoker::torture
