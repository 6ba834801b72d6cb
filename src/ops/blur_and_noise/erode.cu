// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/morphology.h"
#include "op/loops/gpu_window.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct Erode : MorphologyArguments {
  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema =
      describe("erode",
               "Replaces each value by the smallest one under a rectangular mask.\n\n"
               "Dark areas grow, and bright ones shrink. Channels do not mix. NaN counts as larger "
               "than all numbers.",
               ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"}),
               ports({.name = "output", .help = "The input, eroded."}), kMorphologyArguments);

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    extremes<Smallest>(in, out, axes({in.dtype, out.layout, in.full}), border_mode, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Erode* const> items) {
    const auto axes = [&](size_t i) {
      const View& out = r.items[i].outputs[0];
      return items[i]->axes({out.dtype, out.layout, out.full});
    };
    extremes<Smallest>(r, axes, items[0]->border_mode);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[7, 7, 7, 7], [1, 7, 7, 7]]"}, {"uint8 [[1, 1, 7, 7], [1, 1, 7, 7]]"}},
        {"mask_size=[2, 1], anchor=[0, 0]",
         {"float32 HWC [[[1, 5], [4, 2], [-3, 7]]]"},
         {"float32 [[[1, 2], [-3, 2], [-3, 7]]]"}},
        {"mask_size=[3, 1], iterations=2",
         {"int16 CHW [[[-1, 7, 7, 7]]]"},
         {"int16 [[[-1, -1, -1, 7]]]"}},
        {"mask_size=[2, 1], anchor=[1, 0], border_mode=\"wrap\"",
         {"uint16 FHW [[[8, 2, 1]], [[5, 0, 9]]]"},
         {"uint16 [[[1, 2, 1]], [[5, 0, 0]]]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::Erode)
