// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/warp_arguments.h"
#include "op/type_of.h"
#include "op/window/canvas.h"
#include "op/window/rotation.h"

namespace stoker::ops::geometry {

struct Rotate : CanvasArguments, WarpArguments {
  float angle = 0;
  Small<float> axis;
  std::optional<std::array<int64_t, Warp::kMost>> common_canvas;

  static constexpr auto schema = describe(
      "rotate",
      "Rotates an image, a volume or a sequence about its centre.\n\n"
      "The output is as large as the rotated input, and one pixel more along an axis where that "
      "keeps its extent even or odd. With an angle for each frame, all frames get the largest of "
      "their sizes, even or odd as most of them. Accepts any dtype.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW, CFHW, CFDHW"}),
      ports({.name = "output", .help = "The rotated input, in its layout."}),
      arg(&Rotate::angle, "angle",
          "Angle in degrees. Images turn counter-clockwise, volumes by the right-hand rule around "
          "axis.",
          kRequiredPerFrame),
      arg(&Rotate::axis, "axis",
          "Vector (x, y, z) of any length that volumes turn around; only for them.", kPerFrame),
      kCanvasArguments, kWarpArguments);

  void check(Checker& c) const {
    require_warp_filter(interp_type);
    const bool computed = c.is_computed("angle") || c.is_computed("axis") || c.is_computed("size");
    TensorType t = checked_canvas(c, c.in(), computed, [&](const TensorType& in) {
      return after({warp(in), in.dtype}, in).shape;
    });
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }

  static void agree(std::span<Rotate* const> frames, const TensorType& in) {
    const CanvasAxes axes(in);
    std::vector<Rotation> rotations;
    for (const Rotate* r : frames) rotations.emplace_back(axes.rank, r->angle, r->axis);
    std::array<int64_t, Warp::kMost> canvas{};
    Rotation::canvas(rotations, axes.extent, canvas.data());
    for (Rotate* r : frames) r->common_canvas = canvas;
  }

  void lower(Lowering& l) const { add_warp(l, warp(l.type())); }

  static std::vector<Case> cases() {
    return {
        {"angle=90.0", {"uint8 HW [[1, 2, 3], [4, 5, 6]]"}, {"uint8 [[3, 6], [2, 5], [1, 4]]"}},
        {"angle=180.0, size=[1, 4], fill_value=9.0",
         {"int16 HWC [[[1], [2]]]"},
         {"int16 [[[9], [2], [1], [9]]]"}},
        {"angle=100.0, keep_size=True, interp_type=types.INTERP_NN",
         {"uint8 CHW [[[1, 2], [3, 4]]]"},
         {"uint8 [[[2, 4], [1, 3]]]"}},
        {"angle=30.0, size=[1, 1], dtype=types.FLOAT", {"uint8 HW [[8]]"}, {"float32 [[8]]"}},
        {"angle=90.0, axis=[0.0, 0.0, 1.0]",
         {"uint8 DHW [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]"},
         {"uint8 [[[3, 1], [4, 2]], [[7, 5], [8, 6]]]"}},
    };
  }

 private:
  Warp warp(const TensorType& in) const {
    const CanvasAxes axes(in);
    const Rotation rotation(axes.rank, angle, axis);
    std::array<int64_t, Warp::kMost> canvas{};
    if (common_canvas) canvas = *common_canvas;
    else Rotation::canvas({&rotation, 1}, axes.extent, canvas.data());
    set_canvas(axes, canvas.data());
    Warp w = rotation.warp(axes.extent, canvas.data());
    std::copy_n(axes.axis, axes.rank, w.axis);
    return w;
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Rotate)
