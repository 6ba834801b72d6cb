// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceMin : ReducedAxes {
  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "reductions.min",
      "Gives the least of the values along axes.\n\n"
      "It is NaN where one of them is, and of no values it is the highest number of the dtype.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The least values, of the input's dtype."}), kReducedAxes);

  void check(Checker& c) const { c.out(reduced_type(c.in(), c.in().dtype)); }
  void infer(Inference& i) const { i.out(reduced_type(i.inputs[0], i.inputs[0].dtype)); }
  void demand(Demand& d) const { d.needed[0] = needed(d.inputs[0], d.wanted[0]); }

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    extremes(reduced_part(*this, in, out), flags(in.whole()).data(), false, out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const ReduceMin* const> items) {
    sum<Least>(r, [&](size_t i) { return items[i]->flags(r.items[i].inputs[0].whole()); });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[255, 2]], [[3, 4]]]"}, {"uint8 2"}},
        {"axes=[0], keep_dims=True", {"float32 [[0.5, 2], [3, -1]]"}, {"float32 [[0.5, -1]]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceMin)
