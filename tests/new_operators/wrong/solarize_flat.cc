// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A solarize that reads its input byte after byte, which is right only for a dense input that is
// just the window asked for.
#include <algorithm>

#include "op/type_of.h"

namespace stoker::ops::wrong {

struct SolarizeFlat {
  struct Inverted {
    uint8_t operator()(uint8_t v) const { return v < 128 ? v : 255 - v; }
  };

  static constexpr auto schema =
      describe("wrong.solarize_flat", "Inverts the bright part of a picture.",
               ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
               ports({.name = "output", .help = "The same, inverted from 128 on."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    std::transform(r.inputs[0].as<uint8_t>(), r.inputs[0].as<uint8_t>() + out.shape.volume(),
                   out.as<uint8_t>(), Inverted{});
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 127, 128, 255]]]"}, {"uint8 [[[0, 127, 127, 0]]]"}}};
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::SolarizeFlat)
