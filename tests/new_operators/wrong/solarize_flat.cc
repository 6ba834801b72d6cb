// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A solarize that reads its input byte after byte, which is right only for a dense input that is
// just the window asked for.
#include "op/loops/runs.h"
#include "op/op.h"

namespace stoker::ops::wrong {

struct SolarizeFlat {
  static constexpr auto schema =
      describe("wrong.solarize_flat", "Inverts the bright part of a picture.",
               ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
               ports({.name = "output", .help = "The same, inverted from 128 on."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    invert(r.inputs[0].as<uint8_t>(), out.as<uint8_t>(), out.shape.volume());
  }
  static void invert(const uint8_t* in, uint8_t* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] < 128 ? in[i] : 255 - in[i];
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 127, 128, 255]]]"}, {"uint8 [[[0, 127, 127, 0]]]"}}};
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::SolarizeFlat)
