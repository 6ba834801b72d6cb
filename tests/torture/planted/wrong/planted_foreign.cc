// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Throws an error that is not one of Stoker.
#include <stdexcept>

#include "op/loops/runs.h"
#include "op/op.h"

namespace stoker::ops::wrong {

struct PlantedForeign {
  int level = 1;

  static constexpr auto schema = describe(
      "planted_foreign", "Copies numbers.",
      ports({.name = "input", .help = "Numbers.", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The same."}),
      arg(&PlantedForeign::level, "level", "Decides when it is wrong.", between(0, 9), kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void run_cpu(Run& r) const {
    for_each_run<uint8_t>(
        r.inputs[0], r.outputs[0],
        [](const uint8_t* in, uint8_t* out, int64_t n) { std::copy_n(in, n, out); });
    if (level > 4) throw std::runtime_error("not of Stoker");
  }
  static std::vector<Case> cases() { return {{"", {"uint8 [1]"}, {"uint8 [1]"}}}; }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedForeign)
