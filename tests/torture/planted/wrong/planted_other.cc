// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives a worker other bytes than the main thread.
#include <unistd.h>

#include "op/loops/runs.h"
#include "op/op.h"

namespace stoker::ops::wrong {

struct PlantedOther {
  int level = 1;

  static constexpr auto schema = describe(
      "planted_other", "Copies numbers.",
      ports({.name = "input", .help = "Numbers.", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The same."}),
      arg(&PlantedOther::level, "level", "Decides when it is wrong.", between(0, 9), kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void run_cpu(Run& r) const {
    for_each_run<uint8_t>(
        r.inputs[0], r.outputs[0],
        [](const uint8_t* in, uint8_t* out, int64_t n) { std::copy_n(in, n, out); });
    if (level > 2 && gettid() != getpid() && r.outputs[0].shape.volume() > 0)
      ++*r.outputs[0].as<uint8_t>();
  }
  static std::vector<Case> cases() { return {{"", {"uint8 [1]"}, {"uint8 [1]"}}}; }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedOther)
