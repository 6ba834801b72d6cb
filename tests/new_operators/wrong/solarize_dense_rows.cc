// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A solarize that assumes that its input has no gaps between rows.
#include "kernels/elements/map.h"
#include "op/type_of.h"

namespace stoker::ops::wrong {

struct SolarizeDenseRows {
  struct Inverted {
    uint8_t operator()(uint8_t v) const { return v < 128 ? v : 255 - v; }
  };

  static constexpr auto schema =
      describe("wrong.solarize_dense_rows", "Inverts the bright part of a picture.",
               ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
               ports({.name = "output", .help = "The same, inverted from 128 on."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    View in = r.inputs[0];
    in.strides = View::dense_strides(in.shape, 1);
    map<uint8_t, uint8_t>(r.outputs[0], Inverted{}, in);
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 127, 128, 255]]]"}, {"uint8 [[[0, 127, 127, 0]]]"}}};
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::SolarizeDenseRows)
