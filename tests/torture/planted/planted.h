// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What all planted operators are: a copy of numbers that goes wrong for some of them.
#pragma once
#include "kernels/elements/map.h"
#include "op/type_of.h"

namespace stoker::ops::wrong {

// `Wrong` has a schema, which is described(name), and go_wrong(Run).
template <class Wrong>
struct Planted {
  int level = 1;

  static constexpr auto described(const char* name) {
    return describe(
        name, "Copies numbers.", ports({.name = "input", .help = "Numbers.", .dtypes = "uint8"}),
        ports({.name = "output", .help = "The same."}),
        arg(&Planted::level, "level", "Decides when it is wrong.", between(0, 9), kPerSample));
  }

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void run_cpu(Run& r) const {
    map<uint8_t, uint8_t>(r.outputs[0], [](uint8_t v) { return v; }, r.inputs[0]);
    static_cast<const Wrong*>(this)->go_wrong(r);
  }
  static std::vector<Case> cases() { return {{"", {"uint8 [1]"}, {"uint8 [1]"}}}; }
};

}  // namespace stoker::ops::wrong
