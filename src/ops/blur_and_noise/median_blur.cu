// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_window.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct MedianBlur {
  Small<int> window_size = {3, 3};

  static constexpr auto schema = describe(
      "median_blur",
      "Replaces each value by the median of those around it.\n\n"
      "That removes single wrong pixels and keeps edges. Channels do not mix. Beyond its edge the "
      "image repeats its outermost pixels. NaN counts as larger than all numbers.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"}),
      ports({.name = "output", .help = "The blurred input."}),
      arg(&MedianBlur::window_size, "window_size",
          "Width and height of the window in pixels, or one number for both: odd.",
          between(1, kMostMedian), kPerFrame));

  void check(Checker& c) const {
    if (!c.is_computed("window_size")) axes(c.in().layout);
    c.out(c.in());
  }
  void infer(Inference& i) const {
    axes(i.inputs[0].layout);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const {
    const TensorType& in = d.inputs[0];
    d.needed[0] = window_demand(d.wanted[0], in.shape, axes(in.layout), Border::kClamp);
  }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    median(r.inputs[0], out, axes(out.layout), r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const MedianBlur* const> items) {
    median(r, [&](size_t i) { return items[i]->axes(r.items[i].outputs[0].layout); });
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"uint8 HW [[1, 1, 1], [1, 9, 1], [1, 2, 2]]"},
         {"uint8 [[1, 1, 1], [1, 1, 1], [1, 2, 2]]"}},
        {"window_size=[3, 1]",
         {"float32 HWC [[[3, 1], [2, 7], [5, 0]]]"},
         {"float32 [[[3, 1], [3, 1], [5, 0]]]"}},
        {"window_size=[1, 3]", {"int16 CHW [[[-5], [4], [1]]]"}, {"int16 [[[-5], [1], [1]]]"}},
        {"window_size=5",
         {"uint16 FHW [[[5, 4, 3, 2, 1]], [[0, 0, 9, 0, 0]]]"},
         {"uint16 [[[5, 4, 3, 2, 1]], [[0, 0, 0, 0, 0]]]"}},
    };
  }

 private:
  std::array<WindowAxis, 2> axes(const Layout& layout) const {
    require_count("argument 'window_size'", window_size.size(), {1, 2}, "width and height");
    for (int size : window_size)
      require(size % 2 == 1, "argument 'window_size' is ", size, ", expected odd numbers");
    const int w = window_size.at_or_only(0), h = window_size.at_or_only(1);
    return {WindowAxis{layout.find('H'), h, h / 2}, WindowAxis{layout.find('W'), w, w / 2}};
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::MedianBlur)
