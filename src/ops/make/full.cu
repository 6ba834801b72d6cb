// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::make {

struct Full {
  std::optional<Small<int64_t>> shape;
  Layout layout;

  static constexpr auto schema = describe(
      "full",
      "Gives a tensor that is filled with a value.\n\n"
      "The value is repeated along the axes of the shape, as in NumPy: one number fills all, and "
      "a list of three the last axis of [2, 3]. The output has the dtype of the value.",
      ports({.name = "fill_value", .help = "The value: a number or a tensor."}),
      ports({.name = "output", .help = "The filled tensor."}),
      arg(&Full::shape, "shape", "Shape; default: that of the value.", at_least(0), kPerSample),
      arg(&Full::layout, "layout", "Layout of the output, one letter per axis."));

  // `asked` may have unknown extents.
  TensorType filled(const TensorType& value, const Shape& asked) const {
    TensorType t{value.dtype, layout, laid_out(asked, layout)};
    if (asked.rank < 0 || value.shape.rank < 0) return t;
    const int more = asked.rank - value.shape.rank;
    for (int a = 0; a < value.shape.rank; ++a) {
      const int64_t own = value.shape[a], whole = more < 0 ? -2 : asked[more + a];
      require(own < 0 || own == 1 || whole == -1 || own == whole, "the value has the shape ",
              value.shape, ", which does not fill ", asked);
    }
    return t;
  }
  Shape asked(const TensorType& value) const {
    if (!shape) return value.shape;
    require(shape->size() <= kMaxRank, "argument 'shape' has ", shape->size(), " values, expected ",
            kMaxRank, " at most");
    Shape s;
    for (int64_t extent : *shape) s.push_back(extent);
    require(s.is_possible(), "argument 'shape' asks for more than 2^40 elements");
    return s;
  }
  void check(Checker& c) const {
    Shape s = c.is_computed("shape") ? Shape() : asked(c.in());
    if (c.is_computed("shape")) s.rank = -1;
    c.out(filled(c.in(), s));
  }
  void infer(Inference& i) const { i.out(filled(i.inputs[0], asked(i.inputs[0]))); }
  void demand(Demand& d) const { d.needed[0] = part_for(d.wanted[0], d.inputs[0].shape); }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    evaluate(converted(0, out.dtype), r.inputs, out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Full* const>) {
    evaluate(r, converted(0, r.items[0].outputs[0].dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"shape=[3]", {"float32 2.5"}, {"float32 [2.5, 2.5, 2.5]"}},
        {"shape=[2, 3]", {"uint8 [1, 2, 3]"}, {"uint8 [[1, 2, 3], [1, 2, 3]]"}},
        {"", {"int32 [7, 8]"}, {"int32 [7, 8]"}},
    };
  }
};

}  // namespace stoker::ops::make

STOKER_OPERATOR(stoker::ops::make::Full)
