// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/op.h"
#include "op/resize/pixel_origin.h"
#include "op/resize/warp_arguments.h"
#include "op/window/canvas.h"
#include "op/window/point_map.h"

namespace stoker {

// The last two are two names of one border.
enum class WarpBorder : uint8_t { kConstant, kClamp, kReplicate };
template <>
struct EnumNames<WarpBorder> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"constant", "clamp", "replicate"};
};

}  // namespace stoker

namespace stoker::ops::augment {

struct WarpPerspective : SizeArgument, MatrixArguments {
  Small<float> fill_value;
  PixelOrigin pixel_origin = PixelOrigin::kCorner;
  WarpBorder border_mode = WarpBorder::kConstant;
  Filter interp_type = Filter::kLinear;

  static constexpr auto schema = describe(
      "warp_perspective",
      "Moves the points of an image or a sequence by a perspective.\n\n"
      "The matrix has a row for x, one for y and one for the number that both are divided by; the "
      "last number of a row is the offset. The output has the input's size unless 'size' is given. "
      "Accepts any dtype.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"},
            kMatrixPort),
      ports({.name = "output", .help = "The moved input, in its layout."}),
      arg(&MatrixArguments::matrix, "matrix", "The matrix, 3 x 3 numbers, row after row.",
          kPerFrame),
      kInverseMapArgument,
      arg(&WarpPerspective::pixel_origin, "pixel_origin",
          "Where in the first pixel the point (0, 0) lies: its 'corner' or its 'center'."),
      arg(&WarpPerspective::border_mode, "border_mode",
          "What lies outside the input: fill_value ('constant'), or the nearest pixel of its "
          "border ('clamp' or 'replicate')."),
      arg(&WarpPerspective::fill_value, "fill_value",
          "Value outside the input, under border_mode='constant'; default: 0."),
      arg(&WarpPerspective::interp_type, "interp_type", "INTERP_NN or INTERP_LINEAR."),
      kSizeArgument);

  void check(Checker& c) const {
    require_warp_filter(interp_type);
    if (!fill_value.empty())
      require_count("argument 'fill_value'", fill_value.size(), {1}, "for all channels");
    const bool is_known = is_matrix_known(c);
    if (is_known) map(matrix);
    TensorType t = c.in();
    const SpatialAxes axes(t);
    for (int i = 0; i < axes.rank; ++i)
      t.shape[axes.axis[i]] = c.is_computed("size") ? -1 : on_canvas(axes).out[i];
    c.out(t);
  }

  void lower(Lowering& l) const {
    require_pixels(l.type());
    Warp w = on_canvas(SpatialAxes(l.type()), map(numbers(l)));
    w.linear = interp_type == Filter::kLinear;
    w.clamped = border_mode != WarpBorder::kConstant;
    w.fill = fill_value.empty() ? 0 : fill_value[0];
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
        {"pixel_origin=\"center\", interp_type=types.INTERP_NN, inverse_map=False, size=[1, 4]",
         {"int16 CHW [[[1, 2]]]", "float32 [[2, 0, 0], [0, 1, 0], [0, 0, 1]]"},
         {"int16 [[[1, 2, 2, 0]]]"}},
    };
  }

 private:
  Warp map(const Small<float>& m) const {
    PointMap map(2, m, inverse_map, true);
    if (pixel_origin == PixelOrigin::kCenter) map.begin_at_centre();
    return map.warp();
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::WarpPerspective)
