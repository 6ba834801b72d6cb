// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/warp_arguments.h"
#include "op/type_of.h"
#include "op/window/canvas.h"
#include "op/window/point_map.h"

namespace stoker::ops::geometry {

struct WarpAffine : SizeArgument, WarpArguments, MatrixArguments {
  static constexpr auto schema = describe(
      "warp_affine",
      "Moves the points of an image, a volume or a sequence by an affine map.\n\n"
      "The matrix has a row for x, one for y and, for volumes, one for z; the last number of a row "
      "is the offset. (0, 0) is the corner of the first pixel, whose centre is (0.5, 0.5). The "
      "output has the input's size unless 'size' is given. Accepts any dtype.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW, CFHW, CFDHW"},
            kMatrixPort),
      ports({.name = "output", .help = "The moved input, in its layout."}),
      arg(&MatrixArguments::matrix, "matrix",
          "The matrix, 2 x 3 numbers or 3 x 4 for volumes, row after row.", kPerFrame),
      kInverseMapArgument, kSizeArgument, kWarpArguments);

  void check(Checker& c) const {
    require_warp_filter(interp_type);
    const bool is_known = is_matrix_known(c);
    TensorType t = c.in();
    const CanvasAxes axes(t);
    if (axes.rank > 0 && is_known) warp(axes, matrix);
    for (int i = 0; i < axes.rank; ++i)
      t.shape[axes.axis[i]] = c.is_computed("size") ? -1 : on_canvas(axes).out[i];
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }

  void lower(Lowering& l) const { add_warp(l, warp(CanvasAxes(l.type()), numbers(l))); }

  static std::vector<Case> cases() {
    return {
        {"matrix=[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], fill_value=9.0",
         {"uint8 HW [[1, 2, 3], [4, 5, 6]]"},
         {"uint8 [[2, 3, 9], [5, 6, 9]]"}},
        {"matrix=[2.0, 0.0, 0.0, 0.0, 2.0, 0.0], inverse_map=False, size=[2, 4]",
         {"float32 HWC [[[1], [3]]]"},
         {"float32 [[[1], [1.5], [2.5], [3]], [[1], [1.5], [2.5], [3]]]"}},
        {"interp_type=types.INTERP_NN, dtype=types.INT16",
         {"uint8 CHW [[[1, 2], [3, 4]]]", "float32 [[0, 1, 0], [1, 0, 0]]"},
         {"int16 [[[1, 3], [2, 4]]]"}},
        {"matrix=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]",
         {"uint8 DHW [[[1, 2]], [[3, 4]]]"},
         {"uint8 [[[3, 4]], [[3, 4]]]"}},
    };
  }

 private:
  Warp warp(const CanvasAxes& axes, const Small<float>& m) const {
    return on_canvas(axes, PointMap(axes.rank, m, inverse_map).warp());
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::WarpAffine)
