// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/points.cuh"
#include "op/type_of.h"

namespace stoker::ops::boxes {

struct CoordFlip {
  float center_x = 0.5f, center_y = 0.5f, center_z = 0.5f;
  int flip_x = 1, flip_y = 0, flip_z = 0;
  Layout layout;

  static constexpr auto schema = describe(
      "coord_flip",
      "Mirrors points.\n\n"
      "The last axis of the input holds the coordinates of a point, one to three. A mirrored "
      "coordinate v becomes 2 * center - v.",
      ports({.name = "input", .help = "Points.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The mirrored points."}),
      arg(&CoordFlip::center_x, "center_x", "The place of the mirror along x.", kPerSample),
      arg(&CoordFlip::center_y, "center_y", "The place of the mirror along y.", kPerSample),
      arg(&CoordFlip::center_z, "center_z", "The place of the mirror along z.", kPerSample),
      arg(&CoordFlip::flip_x, "flip_x", "1 mirrors x.", between(0, 1), kPerSample),
      arg(&CoordFlip::flip_y, "flip_y", "1 mirrors y.", between(0, 1), kPerSample),
      arg(&CoordFlip::flip_z, "flip_z", "1 mirrors z.", between(0, 1), kPerSample),
      arg(&CoordFlip::layout, "layout",
          "The order of the coordinates, such as 'yx'. Default: 'x', 'xy' or 'xyz'."));

  PointMatrix matrix(const TensorType& in) const {
    const auto count = static_cast<int>(in.shape[in.shape.rank - 1]);
    const std::string_view order =
        layout.empty() ? std::string_view("xyz").substr(0, count) : layout.str();
    require(count <= 3 && static_cast<int>(order.size()) == count, "the points have ", count,
            " coordinates, expected ", layout.empty() ? "at most 3" : layout.str());
    PointMatrix p = PointMatrix::identity(count);
    for (int i = 0; i < count; ++i) {
      const char c = order[i];
      if (!(c == 'x' ? flip_x : c == 'y' ? flip_y : flip_z)) continue;
      p.weight[i][i] = -1;
      p.offset[i] = 2 * static_cast<double>(c == 'x' ? center_x : c == 'y' ? center_y : center_z);
    }
    return p;
  }

  void check(Checker& c) const {
    for (char letter : layout.str())
      require(std::string_view("xyz").find(letter) != std::string_view::npos &&
                  std::count(layout.letters, layout.letters + layout.rank(), letter) == 1,
              "argument 'layout' is ", layout, ", expected each of x, y and z at most once");
    const TensorType& in = c.in();
    require_points(in);
    if (in.shape.rank > 0 && in.shape[in.shape.rank - 1] >= 0) matrix(in);
    c.out(in);
  }
  void infer(Inference& i) const {
    matrix(i.inputs[0]);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const { demand_points(d); }

  void run_cpu(Run& r) const { move_points(r, matrix(r.inputs[0].whole())); }
  static void run_gpu(GpuRun& r, std::span<const CoordFlip* const> items) {
    move_points(r, [&](size_t i) { return items[i]->matrix(r.items[i].inputs[0].whole()); });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 [[0.25, 0.5]]"}, {"float32 [[0.75, 0.5]]"}},
        {"flip_x=0, flip_y=1, center_y=2.0", {"float32 [[1, 3, 5]]"}, {"float32 [[1, 1, 5]]"}},
        {"flip_z=1, layout=\"zx\"", {"float32 [[0.5, 0.25]]"}, {"float32 [[0.5, 0.75]]"}},
    };
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::CoordFlip)
