// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/fused.h"
#include "op/arguments/axes_argument.h"
#include "op/loops/gpu_blocks.cuh"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Pad {
  Small<int> axes;
  std::optional<Layout> axis_names;
  float fill_value = 0;
  Small<int64_t> shape;
  Small<int> align;

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) { require_class_fill(c, "fill_value", {fill_value}); }

  static constexpr auto schema = describe(
      "pad",
      "Makes tensors larger at the end of their axes, by default to the largest of the batch.\n\n"
      "What is new is set to fill_value. Nothing is cut off: a sample that is larger than shape "
      "keeps its extent, up to the next multiple of align. Where shape has an extent for all axes, "
      "a result depends on its sample alone.",
      ports({.name = "input", .help = "Any tensors of one number of axes."}),
      ports({.name = "output", .help = "The padded tensors, in the input's layout."}),
      arg(&Pad::axes, "axes",
          "The axes to pad, by number; negative ones count from the end. Default: all axes.",
          kPerSample),
      arg(&Pad::axis_names, "axis_names",
          "The axes to pad, by letter of the layout. Excludes axes."),
      arg(&Pad::fill_value, "fill_value",
          "What is put there, rounded and saturated to the input's dtype.", kPerSample),
      arg(&Pad::shape, "shape",
          "The least extents, one for each axis to pad or one for all; -1 is that of the largest "
          "sample, and 1 pads only as align says. Default: the largest sample.",
          at_least(-1), kPerSample),
      arg(&Pad::align, "align",
          "What extents are to be multiples of, one for each axis to pad or one for all.",
          at_least(1), kPerSample));

  bool sees_batch() const {
    return shape.empty() ||
           std::any_of(shape.begin(), shape.end(), [](int64_t n) { return n < 0; });
  }

  // The extents of the result, where `largest` has those of the largest sample; -1 is unknown.
  // Throws WrongCall. Requires: the rank is known.
  Shape padded(const TensorType& in, const Shape& largest) const {
    Small<int> chosen = axes;
    const bool has_names = axis_names && !axis_names->empty();
    require_one_kind(!axes.empty(), has_names);
    if (axes.empty() && !has_names)
      for (int a = 0; a < in.shape.rank; ++a) chosen.push_back(a);
    chosen = axes_asked(chosen, has_names ? axis_names : std::nullopt, in);
    const auto n = static_cast<int64_t>(chosen.size());
    constexpr const char* kEach = "one for all axes to pad or one for each";
    if (!shape.empty()) require_count("argument 'shape'", shape.size(), {1, n}, kEach);
    if (!align.empty()) require_count("argument 'align'", align.size(), {1, n}, kEach);
    Shape out = in.shape;
    for (size_t k = 0; k < chosen.size(); ++k) {
      int64_t& extent = out[chosen[k]];
      const int64_t asked = shape.empty() ? -1 : shape.at_or_only(k);
      const int64_t least = asked < 0 ? largest[chosen[k]] : asked;
      if (extent < 0 || least < 0) {
        extent = -1;
        continue;
      }
      extent = std::max(extent, least);
      const int64_t unit = align.empty() ? 1 : align.at_or_only(k);
      if (const int64_t over = extent % unit; over > 0) {
        require(extent < int64_t{1} << 40, "the output would have more than 2^40 elements");
        extent += unit - over;
      }
    }
    return out;
  }
  std::vector<Block> blocks(const TensorType& in, const Shape& out) const {
    Gather g = Gather::identity(out);
    g.fill = {fill_value};
    return {{g, in.dtype}};
  }

  void check(Checker& c) const {
    TensorType t = c.in();
    if (t.shape.rank >= 0) {
      bool is_open = false;
      for (const char* a : {"axes", "shape", "align"}) is_open = is_open || c.is_computed(a);
      t.shape = is_open ? Shape::filled(t.shape.rank, -1) : padded(t, t.shape);
    }
    c.out(t);
  }
  void lower(Lowering& l) const {
    const TensorType in = l.type();
    const Shape out = padded(in, in.shape);
    l.add(blocks(in, out)[0].kind, in.dtype);
  }

  static void infer_batch(BatchInference& b, std::span<const Pad* const> ops) {
    Shape largest = b.items[0].inputs[0].shape;
    for (const auto& item : b.items)
      for (int a = 0; a < largest.rank; ++a)
        largest[a] = std::max(largest[a], item.inputs[0].shape[a]);
    for (size_t i = 0; i < b.items.size(); ++i) {
      TensorType t = b.items[i].inputs[0];
      t.shape = ops[i]->padded(t, largest);
      b.items[i].outputs = {t};
    }
  }
  static void run_batch(BatchRun& r, std::span<const Pad* const> ops) {
    for (size_t i = 0; i < r.items.size(); ++i) {
      const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
      run_blocks(ops[i]->blocks(in.whole(), out.shape), in, out, r.scratch);
    }
  }
  static void run_gpu(GpuRun& r, std::span<const Pad* const> ops) {
    run_blocks(
        r,
        [&](size_t i) {
          return ops[i]->blocks(r.items[i].inputs[0].whole(), r.items[i].outputs[0].shape);
        },
        [&](size_t i) { return r.items[i].inputs[0]; },
        [&](size_t i) { return r.items[i].outputs[0]; });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2]]]"}, {"uint8 [[[1, 2]]]"}},
        {"axes=[0, -1], shape=[3, 2], fill_value=7.0",
         {"int16 HW [[1], [2]]"},
         {"int16 [[1, 7], [2, 7], [7, 7]]"}},
        {"axis_names='W', align=4, fill_value=300.0",
         {"uint8 HW [[1, 2, 3]]"},
         {"uint8 [[1, 2, 3, 255]]"}},
        {"axes=[0], shape=[-1], align=[2]", {"float32 [1, 2, 3]"}, {"float32 [1, 2, 3, 0]"}},
        {"shape=[1], align=[2]", {"float32 [1, 2, 3]"}, {"float32 [1, 2, 3, 0]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Pad)
