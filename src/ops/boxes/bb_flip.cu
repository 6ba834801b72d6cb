// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/flipped_boxes.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::boxes {

struct BbFlip {
  int horizontal = 1, vertical = 0;
  bool ltrb = false;

  static constexpr auto schema = describe(
      "bb_flip",
      "Mirrors bounding boxes.\n\n"
      "The coordinates are shares of the picture's width and height: of the top left corner and "
      "the size, as x, y, w, h, or with ltrb of two corners, as left, top, right, bottom. A "
      "tensor has four values, or any number of rows of four.",
      ports({.name = "input", .help = "Boxes.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The mirrored boxes."}),
      arg(&BbFlip::horizontal, "horizontal", "1 swaps left and right.", between(0, 1), kPerSample),
      arg(&BbFlip::vertical, "vertical", "1 swaps top and bottom.", between(0, 1), kPerSample),
      arg(&BbFlip::ltrb, "ltrb", "Whether boxes are two corners."));

  static void require_boxes(const Shape& s) {
    const bool fits = s.rank == 1 || s.rank == 2;
    require(s.rank < 0 || (fits && (s[s.rank - 1] == 4 || s[s.rank - 1] < 0)),
            "the boxes have the shape ", s, ", expected (4) or (N, 4)");
  }
  void check(Checker& c) const {
    require_boxes(c.in().shape);
    c.out(c.in());
  }
  void infer(Inference& i) const {
    require_boxes(i.inputs[0].shape);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const {
    const int last = d.inputs[0].shape.rank - 1;
    d.needed[0] = d.wanted[0];
    d.needed[0].begin[last] = 0, d.needed[0].end[last] = 4;
  }

  FlippedBoxes work(const View& in, const View& out) const {
    return {in, out, horizontal != 0, vertical != 0, ltrb};
  }
  void run_cpu(Run& r) const { work(r.inputs[0], r.outputs[0]).run_all(); }
  static void run_gpu(GpuRun& r, std::span<const BbFlip* const> items) {
    std::vector<FlippedBoxes> all;
    for (size_t i = 0; i < items.size(); ++i)
      all.push_back(items[i]->work(r.items[i].inputs[0], r.items[i].outputs[0]));
    run_each(r, std::span<const FlippedBoxes>(all));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 [[0.25, 0.5, 0.5, 0.25]]"}, {"float32 [[0.25, 0.5, 0.5, 0.25]]"}},
        {"horizontal=0, vertical=1", {"float32 [0, 0.25, 1, 0.5]"}, {"float32 [0, 0.25, 1, 0.5]"}},
        {"vertical=1", {"float32 [[0, 0.25, 0.5, 0.125]]"}, {"float32 [[0.5, 0.625, 0.5, 0.125]]"}},
        {"vertical=1, ltrb=True",
         {"float32 [[0, 0.25, 0.5, 0.375]]"},
         {"float32 [[0.5, 0.625, 1, 0.75]]"}},
    };
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::BbFlip)
