// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A solarize that assumes that its input has no gaps between rows.
#include "op/loops/runs.h"
#include "op/op.h"

namespace stoker::ops::wrong {

struct SolarizeDenseRows {
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
    for_each_run<uint8_t>(in, r.outputs[0], invert);
  }
  static void invert(const uint8_t* in, uint8_t* out, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i] < 128 ? in[i] : 255 - in[i];
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 127, 128, 255]]]"}, {"uint8 [[[0, 127, 127, 0]]]"}}};
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::SolarizeDenseRows)
