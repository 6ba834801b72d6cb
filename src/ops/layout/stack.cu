// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/join.cuh"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Stack {
  int axis = 0;
  Layout axis_name;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema =
      describe("stack",
               "Joins tensors along a new axis.\n\n"
               "They have one dtype, one layout and one shape, of at most five axes. Inputs "
               "without a layout take that of the others. The output has a layout if the new axis "
               "has a name.",
               ports({.name = "inputs", .help = "Tensors of one shape.", .repeats = true}),
               ports({.name = "output", .help = "All inputs, side by side."}),
               arg(&Stack::axis, "axis",
                   "Number of the new axis in the output; a negative one counts from the end.",
                   between(-kMaxRank, kMaxRank - 1)),
               arg(&Stack::axis_name, "axis_name",
                   "Letter of the new axis, which is put into the layout of the inputs."));

  // The same with a new axis of this extent.
  static Shape with_axis(const Shape& s, int at, int64_t extent) {
    Shape all;
    for (int a = 0; a <= s.rank; ++a) all.push_back(a < at ? s[a] : a > at ? s[a - 1] : extent);
    return all;
  }
  static Shape without_axis(const Shape& s, int at) {
    Shape rest;
    for (int a = 0; a < s.rank; ++a)
      if (a != at) rest.push_back(s[a]);
    return rest;
  }

  Layout layout_of(const TensorType& t, int at) const {
    if (axis_name.empty()) return {};
    const std::string old(t.layout.str());
    require(!old.empty() || t.shape.rank == 0, "argument 'axis_name' needs inputs with a layout");
    require(t.layout.find(axis_name.str()[0]) < 0, "argument 'axis_name' is ", axis_name,
            ", which the layout ", t.layout, " has already");
    return old.substr(0, at) + axis_name.letters + old.substr(at);
  }

  // The type of the output; extents and ranks of inputs may be unknown.
  TensorType stacked(std::span<const TensorType> inputs) const {
    TensorType all = inputs[0];
    for (const TensorType& t : inputs) {
      if (all.layout.empty()) all.layout = t.layout;
      if (all.shape.rank < 0) all.shape = t.shape;
      for (int a = 0; a < std::min(all.shape.rank, t.shape.rank); ++a)
        if (all.shape[a] < 0) all.shape[a] = t.shape[a];
    }
    for (size_t i = 0; i < inputs.size(); ++i) require_like(all, i, inputs[i], "");
    const int rank = all.shape.rank;
    if (rank < 0) return {all.dtype, {}, all.shape};
    require(rank < kMaxRank, "the inputs have ", rank, " axes, expected at most ", kMaxRank - 1);
    const int at = axis_numbered("axis", axis, rank + 1);
    return {all.dtype, layout_of(all, at),
            with_axis(all.shape, at, static_cast<int64_t>(inputs.size()))};
  }

  void check(Checker& c) const {
    require(axis_name.rank() <= 1, "argument 'axis_name' is ", axis_name, ", expected one letter");
    c.out(stacked(c.inputs));
  }
  void infer(Inference& i) const { i.out(stacked(i.inputs)); }

  void demand(Demand& d) const {
    const int at = axis_numbered("axis", axis, d.wanted[0].begin.rank);
    for (size_t i = 0; i < d.inputs.size(); ++i) {
      const auto k = static_cast<int64_t>(i);
      const bool is_wanted = d.wanted[0].begin[at] <= k && k < d.wanted[0].end[at];
      Window& w = d.needed[i];
      w.begin = w.end = without_axis(d.wanted[0].begin, at);
      if (is_wanted) w.end = without_axis(d.wanted[0].end, at);
    }
  }

  static std::vector<View> widened(std::span<const View> inputs, int at) {
    std::vector<View> all(inputs.begin(), inputs.end());
    for (View& v : all) {
      v.shape = with_axis(v.shape, at, 1), v.full = with_axis(v.full, at, 1);
      v.strides = with_axis(v.strides, at, 0), v.origin = with_axis(v.origin, at, 0);
    }
    return all;
  }
  void run_cpu(Run& r) const {
    const int at = axis_numbered("axis", axis, r.outputs[0].full.rank);
    join(widened(r.inputs, at), r.outputs[0], at);
  }
  static void run_gpu(GpuRun& r, std::span<const Stack* const> items) {
    const auto at = [&](size_t i) {
      return axis_numbered("axis", items[i]->axis, r.items[i].outputs[0].full.rank);
    };
    join(r, [&](size_t i) { return widened(r.items[i].inputs, at(i)); }, at);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"int32 [1, 2]", "int32 [3, 4]"}, {"int32 [[1, 2], [3, 4]]"}},
        {"axis=-1, axis_name='C'",
         {"uint8 HW [[1, 2]]", "uint8 HW [[3, 4]]"},
         {"uint8 [[[1, 3], [2, 4]]]"}},
        {"axis_name='F'", {"float32 7", "float32 8", "float32 9"}, {"float32 [7, 8, 9]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Stack)
