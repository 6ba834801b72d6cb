// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/dtype_argument.h"
#include "op/type_of.h"
#include "op/window/crop_window.h"
#include "op/window/out_of_bounds.h"

namespace stoker::ops::geometry {

struct Crop : CropArguments, OutOfBoundsArguments, DtypeArgument {
  static constexpr auto schema = describe(
      "crop",
      "Cuts a window of a given size out of an image, a volume or a sequence.\n\n"
      "The window starts at crop_pos * (extent - window) along each axis, in pixels; axes without "
      "a size stay whole. crop_d cuts axis D, or the frames of a sequence without D. Accepts any "
      "dtype; the output has the input's layout. A window larger than the input is treated as "
      "out_of_bounds_policy says; under 'error' the sample fails.",
      ports(
          {.name = "input",
           .help = "Image, volume or sequence.",
           .layouts = "HWC, CHW, HW, DHWC, CDHW, FHWC, FCHW, CFHW, FHW, DHW, FDHWC, FCDHW, CFDHW"}),
      ports({.name = "output", .help = "The window."}), kCropArguments, kCropDepthArguments,
      kOutOfBoundsArguments, kDtypeArgument);

  void check(Checker& c) const {
    TensorType t = c.in();
    t.shape = checked_crop(*this, out_of_bounds_policy, c, t);
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    const Window w = crop_window(*this, out_of_bounds_policy, in);
    l.add(cut(w, in, fill_values), dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"crop=[1, 2], crop_pos_x=1.0, crop_pos_y=0.0",
         {"uint8 HWC [[[1], [2], [3]], [[4], [5], [6]]]"},
         {"uint8 [[[2], [3]]]"}},
        {"crop_h=0, crop_w=0", {"int16 HW [[-7, 9]]"}, {"int16 [[-7, 9]]"}},
        {"crop=[1, 4], out_of_bounds_policy=\"pad\", fill_values=[9.0]",
         {"uint8 HW [[1, 2]]"},
         {"uint8 [[9, 1, 2, 9]]"}},
        {"crop=[1, 4], out_of_bounds_policy=\"trim_to_shape\", dtype=types.FLOAT",
         {"uint8 HW [[1, 2]]"},
         {"float32 [[1, 2]]"}},
        {"crop=[1, 1, 1], crop_pos_z=1.0",
         {"uint8 FHWC [[[[1]]], [[[2]]], [[[3]]]]"},
         {"uint8 [[[[3]]]]"}},
        {"crop_h=1, crop_w=2, rounding=\"truncate\"",
         {"uint8 CHW [[[1, 2, 3, 4, 5]]]"},
         {"uint8 [[[2, 3]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Crop)
