// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include "files.h"
#include "graph.h"

namespace stoker::torture {

namespace {

Common draw_common(Dice& dice) {
  Common c;
  c.seed = dice.between(0, 1000);
  c.batch = dice.of({1, 2, 3, 4, 4, 6, 8});
  c.steps = dice.of({1, 2, 3, 3, 5});
  c.on_error = dice.of({"raise", "skip", "replace", "drop"});
  c.fake_decoder = dice.often(0.6);
  if (dice.often(0.15)) c.epoch_end = static_cast<int>(dice.between(0, c.steps));
  if (dice.often(0.1)) c.memory = int64_t{1} << dice.between(10, 22);
  if (dice.often(0.04)) c.repeats = 24;
  return c;
}

void draw_dealing(Dice& dice, const Trial& t, Way& w) {
  const Common& c = t.common;
  if (c.short_batches || t.may_see_batch()) return;
  if (dice.often(0.25)) {
    w.batch = dice.of({1, 2, 3, 5, 8, 16});
  } else if (dice.often(0.25)) {
    w.shards = static_cast<int>(dice.between(1, c.batch));
    while (c.batch % w.shards != 0) --w.shards;
    w.shard = static_cast<int>(dice.below(w.shards));
  }
}

void draw_interruptions(Dice& dice, const Trial& t, Way& w) {
  const Common& c = t.common;
  if (dice.often(0.3)) w.resume_at = static_cast<int>(dice.between(0, c.steps));
  if (dice.often(0.15)) w.stop_at = static_cast<int>(dice.between(0, c.steps));
  w.schedules = dice.often(0.2);
  w.holds = dice.often(0.3);
  w.saved = dice.often(0.1) && !t.calls_functions();
}

Way draw_way(Dice& dice, const Trial& t) {
  Way w;
  w.executor = dice.of({"pipelined", "pipelined", "pipelined", "pipelined", "pipelined", "simple"});
  w.threads = dice.of({1, 2, 2, 3, 4, 7});
  w.depth = dice.of({1, 2, 2, 3, 5});
  w.io_threads = dice.of({1, 2, 4});
  w.demand = dice.often(0.6);
  w.fuse = dice.often(0.6);
  w.ahead = static_cast<int>(dice.between(1, 4));
  draw_dealing(dice, t, w);
  draw_interruptions(dice, t, w);
  w.delays = t.uses_device() && dice.often(0.3);
  // What a device makes may differ in the last place, so a function may return something else.
  w.on_cpu = t.uses_device() && !t.calls_functions() && dice.often(0.15);
  if (dice.often(0.15)) w.read_ahead = dice.of({0, 1, 1000});
  return w;
}

}  // namespace

Trial draw_trial(uint64_t seed, int64_t number, const std::vector<std::string>& operators) {
  Dice dice(mix(seed, static_cast<uint64_t>(number)));
  Trial t;
  t.common = draw_common(dice);
  for (int64_t count = dice.between(1, 6); count > 0; --count) t.files.push_back(draw_file(dice));
  draw_graph(dice, operators, t);
  if (!t.has(OperatorKind::kRead) && t.has(OperatorKind::kInput))
    t.common.short_batches = dice.often(0.2);
  // The plainest way first; then any.
  Way usual;
  usual.executor = "pipelined";
  usual.threads = usual.depth = 2;
  usual.demand = usual.fuse = true;
  t.ways = {usual};
  for (int64_t count = dice.between(2, 5); count > 0; --count) t.ways.push_back(draw_way(dice, t));
  return t;
}

}  // namespace stoker::torture
