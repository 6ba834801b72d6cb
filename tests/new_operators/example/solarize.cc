// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Inverts the bright part of a picture, element by element, as is done where no block fits. (A
// `Table` would do this one too, and be fused with its neighbours.)
#include "kernels/elements/map.h"
#include "op/type_of.h"

namespace stoker::ops::example {

struct Solarize {
  struct Inverted {
    uint8_t operator()(uint8_t v) const { return v < 128 ? v : 255 - v; }
  };

  static constexpr auto schema =
      describe("example.solarize",
               "Inverts the bright part of a picture.\n\n"
               "A value v from 128 on becomes 255 - v; the others stay.",
               ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
               ports({.name = "output", .help = "The same, inverted from 128 on."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const { map<uint8_t, uint8_t>(r.outputs[0], Inverted{}, r.inputs[0]); }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 127, 128, 255]]]"}, {"uint8 [[[0, 127, 127, 0]]]"}},
            {"", {"uint8 HWC [[[200]], [[100]]]"}, {"uint8 [[[55]], [[100]]]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Solarize)
