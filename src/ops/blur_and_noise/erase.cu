// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/boxes.cuh"
#include "op/type_of.h"
#include "op/window/box_arguments.h"

namespace stoker::ops::blur_and_noise {

struct Erase : BoxArguments {
  Small<float> fill_value = {0};

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) { require_class_fill(c, "fill_value", fill_value); }

  static constexpr auto schema = describe(
      "erase",
      "Sets boxes of a tensor to a value.\n\n"
      "The lists anchor and shape have one value for each axis of axes or axis_names, and then the "
      "values of further boxes. A box reaches from the anchor up to, but not including, anchor + "
      "shape, both cut off to whole numbers, over all positions of the other axes. What lies "
      "outside the input is ignored. Without shape nothing is erased.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The input with the boxes set."}),
      arg(&Erase::fill_value, "fill_value",
          "What the boxes are set to: one value for all channels or one per channel. Values are "
          "rounded and saturate.",
          kPerSample),
      kBoxArguments);

  void check(Checker& c) const {
    require(anchor.empty() || !shape.empty() || c.is_computed("shape"),
            "argument 'anchor' needs 'shape'");
    const auto is_share = [](float v) { return v > 0 && v < 1; };
    if (!normalized && !normalized_shape && std::any_of(shape.begin(), shape.end(), is_share))
      c.warning = "'shape' is less than an element; normalized=True takes it as a share";
    if (c.in().shape.rank >= 0 && !c.is_computed("shape")) boxes(c.in());
    if (c.in().shape.rank >= 0 && !c.is_computed("fill_value")) require_fill(c.in());
    c.out(c.in());
  }
  void infer(Inference& i) const {
    boxes(i.inputs[0]);
    require_fill(i.inputs[0]);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }

  void run_cpu(Run& r) const {
    copy_window(r.inputs[0], r.outputs[0]);
    fill_boxes(r.outputs[0], boxes(r.outputs[0].whole()), fill_value);
  }
  static void run_gpu(GpuRun& r, std::span<const Erase* const> items) {
    copy_windows(r);
    fill_boxes(
        r, [&](size_t i) { return items[i]->boxes(r.items[i].outputs[0].whole()); },
        [&](size_t i) { return std::span(items[i]->fill_value); });
  }

  static std::vector<Case> cases() {
    return {
        {"anchor=[0, 1], shape=[1, 1], fill_value=[9]",
         {"uint8 HWC [[[1], [2], [3]], [[4], [5], [6]]]"},
         {"uint8 [[[1], [9], [3]], [[4], [5], [6]]]"}},
        {"anchor=[0.5], shape=[9], axis_names=\"W\", normalized_anchor=True, fill_value=[7, 8]",
         {"int16 CHW [[[1, 2]], [[3, 4]]]"},
         {"int16 [[[1, 7]], [[3, 8]]]"}},
        {"anchor=[0, 2.9], shape=[1, 1.2], axes=[-1]",
         {"float32 [1, 2, 3, 4, 5]"},
         {"float32 [0, 2, 0, 0, 5]"}},
        {"anchor=[0.5], shape=[0.5], axes=[0], normalized=True, centered_anchor=True",
         {"int32 [1, 2, 3, 4]"},
         {"int32 [1, 0, 0, 4]"}},
        {"", {"uint8 HW [[1, 2]]"}, {"uint8 [[1, 2]]"}},
    };
  }

 private:
  void require_fill(const TensorType& in) const {
    const int c = in.layout.find('C');
    if (c < 0 || in.shape[c] >= 0)
      require_count("argument 'fill_value'", fill_value.size(), {1, c < 0 ? 1 : in.shape[c]},
                    "one for all channels or one per channel");
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::Erase)
