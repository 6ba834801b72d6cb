// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::make {

struct FullLike {
  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "full_like",
      "Gives a tensor of the shape, layout and dtype of another, filled with a value.\n\n"
      "The value is repeated along the axes of the shape, as in NumPy. It is rounded to the dtype, "
      "halves away from zero, and saturates.",
      ports({.name = "data", .help = "Any tensor; its values do not matter."},
            {.name = "fill_value", .help = "The value: a number or a tensor."}),
      ports({.name = "output", .help = "The filled tensor."}));

  static TensorType filled(const TensorType& data, const TensorType& value) {
    const TensorType pair[] = {{data.dtype, {}, data.shape}, {value.dtype, {}, value.shape}};
    const TensorType both = broadcast(pair);
    require(both.shape.rank < 0 || both.shape == data.shape || !is_known(both.shape) ||
                !is_known(data.shape),
            "the value has the shape ", value.shape, ", which does not fill ", data.shape);
    return data;
  }
  static bool is_known(const Shape& s) {
    for (int a = 0; a < s.rank; ++a)
      if (s[a] < 0) return false;
    return s.rank >= 0;
  }
  void check(Checker& c) const { c.out(filled(c.in(0), c.in(1))); }
  void infer(Inference& i) const { i.out(filled(i.inputs[0], i.inputs[1])); }
  void demand(Demand& d) const {
    d.needed[0].end = d.needed[0].begin;
    d.needed[1] = part_for(d.wanted[0], d.inputs[1].shape);
  }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    evaluate(converted(1, out.dtype), r.inputs, out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const FullLike* const>) {
    evaluate(r, converted(1, r.items[0].outputs[0].dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[0, 0]]", "float32 7.5"}, {"uint8 [[8, 8]]"}},
        {"", {"float32 [[0], [0]]", "int32 [3]"}, {"float32 [[3.0], [3.0]]"}},
    };
  }
};

}  // namespace stoker::ops::make

STOKER_OPERATOR(stoker::ops::make::FullLike)
