// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/morphology.h"
#include "op/loops/gpu_window.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct Dilate : MorphologyArguments {
  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema =
      describe("dilate",
               "Replaces each value by the largest one under a rectangular mask.\n\n"
               "Bright areas grow, and dark ones shrink. Channels do not mix. NaN counts as larger "
               "than all numbers.",
               ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"}),
               ports({.name = "output", .help = "The input, dilated."}), kMorphologyArguments);

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    extremes<Largest>(in, out, axes({in.dtype, out.layout, in.full}), border_mode, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Dilate* const> items) {
    const auto axes = [&](size_t i) {
      const View& out = r.items[i].outputs[0];
      return items[i]->axes({out.dtype, out.layout, out.full});
    };
    extremes<Largest>(r, axes, items[0]->border_mode);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[0, 0, 0, 0], [9, 0, 0, 0]]"}, {"uint8 [[9, 9, 0, 0], [9, 9, 0, 0]]"}},
        {"mask_size=[2, 1], anchor=[0, 0]",
         {"float32 HWC [[[1, 5], [4, 2], [-3, 7]]]"},
         {"float32 [[[4, 5], [4, 7], [-3, 7]]]"}},
        {"mask_size=[3, 1], iterations=2",
         {"int16 CHW [[[-1, -7, -7, -7]]]"},
         {"int16 [[[-1, -1, -1, -7]]]"}},
        {"mask_size=[2, 1], anchor=[1, 0], border_mode=\"wrap\"",
         {"uint16 FHW [[[1, 2, 900]], [[5, 0, 0]]]"},
         {"uint16 [[[900, 2, 900]], [[5, 5, 0]]]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::Dilate)
