// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/join.cuh"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Cat {
  int axis = 0;
  Layout axis_name;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "cat",
      "Joins tensors along one of their axes.\n\n"
      "They have one dtype, one layout and equal extents, but along that axis. Inputs without a "
      "layout take that of the others.",
      ports({.name = "inputs", .help = "Tensors of at least one axis.", .repeats = true}),
      ports({.name = "output", .help = "All inputs, one behind the other."}),
      arg(&Cat::axis, "axis", "Number of the axis; a negative one counts from the end.",
          between(-kMaxRank, kMaxRank - 1)),
      arg(&Cat::axis_name, "axis_name",
          "Letter of the axis in the layout. It excludes a number in axis."));

  int axis_in(const TensorType& t) const {
    if (axis_name.empty()) return axis_numbered("axis", axis, t.shape.rank);
    const int named = axis_name.rank() == 1 ? t.layout.find(axis_name.str()[0]) : -1;
    require(named >= 0, "argument 'axis_name' is ", axis_name, ", expected an axis of the layout ",
            t.layout);
    return named;
  }

  // The type of the output; extents and ranks of inputs may be unknown.
  TensorType concatenated(std::span<const TensorType> inputs) const {
    TensorType all = inputs[0];
    for (const TensorType& t : inputs) {
      if (all.layout.empty()) all.layout = t.layout;
      if (all.shape.rank < 0) all.shape = t.shape;
    }
    if (all.shape.rank < 0) return all;
    const int a = axis_in(all);
    int64_t extent = 0;
    all.shape[a] = -1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      require_like(all, i, inputs[i], ", where ? may be any");
      const int64_t own = inputs[i].shape.rank < 0 ? -1 : inputs[i].shape[a];
      extent = extent < 0 || own < 0 ? -1 : extent + own;
    }
    all.shape[a] = extent;
    return all;
  }

  void check(Checker& c) const {
    require(axis_name.empty() || axis == 0, "arguments 'axis' and 'axis_name' exclude each other");
    c.out(concatenated(c.inputs));
  }
  void infer(Inference& i) const { i.out(concatenated(i.inputs)); }

  void demand(Demand& d) const {
    const int a = axis_in(concatenated(d.inputs));
    int64_t begin = 0;
    for (size_t i = 0; i < d.inputs.size(); ++i) {
      d.needed[i] = part_of(d.wanted[0], a, begin, d.inputs[i].shape[a]);
      begin += d.inputs[i].shape[a];
    }
  }

  void run_cpu(Run& r) const { join(r.inputs, r.outputs[0], axis_in(r.outputs[0].whole())); }
  static void run_gpu(GpuRun& r, std::span<const Cat* const> items) {
    join(
        r, [&](size_t i) { return r.items[i].inputs; },
        [&](size_t i) { return items[i]->axis_in(r.items[i].outputs[0].whole()); });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"int32 [1, 2]", "int32 [3]"}, {"int32 [1, 2, 3]"}},
        {"axis=-1", {"uint8 HW [[1], [2]]", "uint8 HW [[3], [4]]"}, {"uint8 [[1, 3], [2, 4]]"}},
        {"axis_name='C'",
         {"float32 HWC [[[1, 2]]]", "float32 [[[3]]]", "float32 HWC [[[4]]]"},
         {"float32 [[[1, 2, 3, 4]]]"}},
        {"axis=1", {"bool [[1, 0]]"}, {"bool [[1, 0]]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Cat)
