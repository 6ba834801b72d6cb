// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/border.h"
#include "op/resize/pixel_origin.h"
#include "op/resize/warp_arguments.h"
#include "op/type_of.h"
#include "op/window/canvas.h"
#include "op/window/point_map.h"

namespace stoker::ops::geometry {

struct WarpPerspective : SizeArgument, MatrixArguments {
  Small<float> fill_value;
  PixelOrigin pixel_origin = PixelOrigin::kCorner;
  Border border_mode = Border::kConstant;
  std::optional<Filter> interp_type;

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) {
    take_nearest(c, "interp_type", interp_type);
    require_class_fill(c, "fill_value", fill_value);
  }

  static constexpr auto schema = describe(
      "warp_perspective",
      "Moves the points of an image or a sequence by a perspective.\n\n"
      "The matrix has a row for x, one for y and one for the number that both are divided by; the "
      "last number of a row is the offset. The output has the input's size unless 'size' is given. "
      "The cubic filter is OpenCV's, which is a little sharper than that of resize. Accepts any "
      "dtype.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"},
            kMatrixPort),
      ports({.name = "output", .help = "The moved input, in its layout."}),
      arg(&MatrixArguments::matrix, "matrix", "The matrix, 3 x 3 numbers, row after row.",
          kPerFrame),
      kInverseMapArgument,
      arg(&WarpPerspective::pixel_origin, "pixel_origin",
          "Where in the first pixel the point (0, 0) lies: its 'corner' or its 'center'."),
      arg(&WarpPerspective::border_mode, "border_mode", kBorderHelp),
      arg(&WarpPerspective::fill_value, "fill_value",
          "Value outside the input, under border_mode='constant': one for each channel, or one for "
          "all; default: 0."),
      arg(&WarpPerspective::interp_type, "interp_type",
          "INTERP_NN, INTERP_LINEAR or INTERP_CUBIC. Default: INTERP_LINEAR, and INTERP_NN for "
          "class "
          "numbers."),
      kSizeArgument);

  void check(Checker& c) const {
    require(filter() <= Filter::kCubic,
            "argument 'interp_type' is INTERP_NN, INTERP_LINEAR or INTERP_CUBIC here");
    const bool is_known = is_matrix_known(c);
    if (is_known) map(matrix);
    TensorType t = c.in();
    require_fills(t);
    const CanvasAxes axes(t);
    for (int i = 0; i < axes.rank; ++i)
      t.shape[axes.axis[i]] = c.is_computed("size") ? -1 : on_canvas(axes).out[i];
    c.out(t);
  }

  void lower(Lowering& l) const {
    require_pixels(l.type());
    Warp w = on_canvas(CanvasAxes(l.type()), map(numbers(l)));
    require_fills(l.type());
    w.filter = filter();
    w.border = border_mode;
    w.fill = fill_value;
    l.add(w, l.type().dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"matrix=[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], fill_value=[9.0]",
         {"uint8 HW [[1, 2, 3], [4, 5, 6]]"},
         {"uint8 [[2, 3, 9], [5, 6, 9]]"}},
        {"matrix=[0.0, 0.0, 6.0, 0.0, 4.0, 0.0, 1.0, 0.0, 0.5], border_mode=\"clamp\"",
         {"float32 HWC [[[0], [8], [16], [24]]]"},
         {"float32 [[[24], [20], [12], [8]]]"}},
        {"matrix=[1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], fill_value=[7.0, 8.0, 9.0]",
         {"uint8 HWC [[[1, 2, 3], [4, 5, 6]]]"},
         {"uint8 [[[7, 8, 9], [1, 2, 3]]]"}},
        {"matrix=[1.0, 0.0, -2.5, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], border_mode=\"reflect_101\", "
         "interp_type=types.INTERP_CUBIC",
         {"float32 HW [[0, 32, 0, 64]]"},
         {"float32 [[35, 13, 16, 16]]"}},
        {"pixel_origin=\"center\", interp_type=types.INTERP_NN, inverse_map=False, size=[1, 4]",
         {"int16 CHW [[[1, 2]]]", "float32 [[2, 0, 0], [0, 1, 0], [0, 0, 1]]"},
         {"int16 [[[1, 2, 2, 0]]]"}},
    };
  }

 private:
  Filter filter() const { return interp_type.value_or(Filter::kLinear); }
  // Throws WrongCall.
  void require_fills(const TensorType& t) const {
    const int c = t.layout.find('C');
    const int64_t channels = c < 0 ? 1 : t.shape[c];
    if (fill_value.size() > 1 && channels >= 0)
      require_count("argument 'fill_value'", fill_value.size(), {1, channels},
                    "one per channel or one for all");
  }
  Warp map(const Small<float>& m) const {
    PointMap map(2, m, inverse_map, true);
    if (pixel_origin == PixelOrigin::kCenter) map.begin_at_centre();
    return map.warp();
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::WarpPerspective)
