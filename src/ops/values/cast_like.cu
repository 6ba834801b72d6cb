// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::values {

struct CastLike {
  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "cast_like",
      "Gives a tensor the dtype of another.\n\n"
      "Values are converted as `cast` does it: rounded to the nearest, halves away from zero, and "
      "saturated. Shape and layout stay.",
      ports({.name = "data", .help = "Any tensor."},
            {.name = "dtype_like", .help = "A tensor of the new dtype; its values do not matter."}),
      ports({.name = "output", .help = "The same values in the new dtype."}));

  static TensorType like(TensorType t, DType dtype) {
    t.dtype = dtype;
    return t;
  }
  void check(Checker& c) const { c.out(like(c.in(0), c.in(1).dtype)); }
  void infer(Inference& i) const { i.out(like(i.inputs[0], i.inputs[1].dtype)); }
  void demand(Demand& d) const {
    d.needed[0] = d.wanted[0];
    d.needed[1].end = d.needed[1].begin;
  }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    evaluate(converted(0, out.dtype), r.inputs, out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const CastLike* const>) {
    evaluate(r, converted(0, r.items[0].outputs[0].dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 [1.5, 300.0, -2.0]", "uint8 [9]"}, {"uint8 [2, 255, 0]"}},
        {"", {"int16 HW [[1, 0]]", "bool True"}, {"bool [[True, False]]"}},
    };
  }
};

}  // namespace stoker::ops::values

STOKER_OPERATOR(stoker::ops::values::CastLike)
