// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "op/loops/gpu_equalize.cuh"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Equalize {
  static constexpr auto schema = describe(
      "equalize",
      "Equalises the histogram of an image.\n\n"
      "A value becomes 255 times the share of values up to it, where the lowest value of the image "
      "is not counted and becomes 0. An image of one value stays as it is. Each channel and each "
      "frame has a histogram of its own.",
      ports({.name = "input",
             .help = "Image or sequence.",
             .layouts = "HW, HWC, CHW",
             .dtypes = "uint8"}),
      ports({.name = "output", .help = "The equalised input."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const {
    if (const int c = d.inputs[0].layout.find('C'); c >= 0)
      d.needed[0].begin[c] = d.wanted[0].begin[c], d.needed[0].end[c] = d.wanted[0].end[c];
  }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    if (out.shape.volume() == 0) return;
    const int h = out.layout.find('H'), w = out.layout.find('W');
    Window counted = out.covers();
    for (const int a : {h, w}) counted.begin[a] = 0, counted.end[a] = out.full[a];
    const View in = with_dense_rows(part_of(r.inputs[0], counted), w, r.scratch);
    const BytePlanes from = BytePlanes::of(in), to = BytePlanes::of(out);
    const std::vector<uint32_t> counts = histograms(in.as<uint8_t>(), from);
    std::vector<uint8_t> tables(counts.size());
    for (size_t p = 0; p < counts.size(); p += 256)
      stoker::equalize(Counts{&counts[p], 1}, &tables[p]);
    const View wanted = part_of(in, out.covers());
    look_up(wanted.as<uint8_t>(), from, out.as<uint8_t>(), to, tables);
  }
  static void run_gpu(GpuRun& r, std::span<const Equalize* const>) { stoker::equalize(r); }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[7, 9], [9, 200]]"}, {"uint8 [[0, 170], [170, 255]]"}},
        {"",
         {"uint8 HWC [[[1, 5], [2, 5]], [[3, 5], [4, 5]]]"},
         {"uint8 [[[0, 5], [85, 5]], [[170, 5], [255, 5]]]"}},
        {"", {"uint8 FCHW [[[[1, 2]]], [[[3, 3]]]]"}, {"uint8 [[[[0, 255]]], [[[3, 3]]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Equalize)
