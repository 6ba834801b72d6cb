// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/points.cuh"
#include "op/type_of.h"

namespace stoker::ops::boxes {

struct BboxPaste {
  bool ltrb = false;
  float paste_x = 0.5f, paste_y = 0.5f, ratio = 1;

  static constexpr auto schema = describe(
      "bbox_paste",
      "Moves bounding boxes with their picture when that is pasted onto a larger canvas.\n\n"
      "The coordinates are shares of the picture's width and height: of the top left corner and "
      "the size, as x, y, w, h, or with ltrb of two corners, as left, top, right, bottom. They "
      "become shares of the canvas, on which `paste` puts the picture with the same arguments.",
      ports({.name = "input", .help = "Boxes: four values, or rows of four.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The moved boxes."}),
      arg(&BboxPaste::ltrb, "ltrb", "Whether boxes are two corners."),
      arg(&BboxPaste::paste_x, "paste_x", "Place of the picture, from 0 at the left to 1.",
          between(0, 1), kPerSample),
      arg(&BboxPaste::paste_y, "paste_y", "Place of the picture, from 0 at the top to 1.",
          between(0, 1), kPerSample),
      arg(&BboxPaste::ratio, "ratio", "How much larger than the picture the canvas is.",
          at_least(1), kRequiredPerSample));

  static void require_boxes(const TensorType& in) {
    require_points(in);
    const int rank = in.shape.rank;
    require(rank < 0 || in.shape[rank - 1] == 4 || in.shape[rank - 1] < 0,
            "the boxes have the shape ", in.shape, ", expected four values in a row");
  }
  PointMatrix matrix() const {
    PointMatrix p = PointMatrix::identity(4);
    const double share = 1 / static_cast<double>(ratio);
    for (int i = 0; i < 4; ++i) {
      p.weight[i][i] = share;
      const double place = static_cast<double>(i % 2 ? paste_y : paste_x);
      if (i < 2 || ltrb) p.offset[i] = place * (1 - share);
    }
    return p;
  }

  void check(Checker& c) const {
    require_boxes(c.in());
    c.out(c.in());
  }
  void infer(Inference& i) const {
    require_boxes(i.inputs[0]);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const { demand_points(d); }

  void run_cpu(Run& r) const { move_points(r, matrix()); }
  static void run_gpu(GpuRun& r, std::span<const BboxPaste* const> items) {
    move_points(r, [&](size_t i) { return items[i]->matrix(); });
  }

  static std::vector<Case> cases() {
    return {
        {"ratio=2.0", {"float32 [[0.5, 0.25, 0.5, 0.5]]"}, {"float32 [[0.5, 0.375, 0.25, 0.25]]"}},
        {"ratio=2.0, ltrb=True, paste_x=0.0, paste_y=1.0",
         {"float32 [0, 0, 1, 0.5]"},
         {"float32 [0, 0.5, 0.5, 0.75]"}},
    };
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::BboxPaste)
