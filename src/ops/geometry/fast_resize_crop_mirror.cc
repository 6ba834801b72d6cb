// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/resized_crop.h"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct FastResizeCropMirror : ResizedCrop {
  FastResizeCropMirror() { antialias = false; }

  static constexpr auto schema = describe(
      "fast_resize_crop_mirror",
      "Does what resize_crop_mirror does, but without antialias unless it is asked for.\n\n"
      "This is resize, then crop, then flip, with their arguments, in one pass: only what is seen "
      "is computed. Accepts any dtype.",
      kResizedCropInputs, kResizedCropOutputs, kResizedCropArguments);

  static std::vector<Case> cases() {
    return {
        {"size=[1, 2]", {"uint8 HW [[1, 2, 3, 4, 5, 60]]"}, {"uint8 [[2, 5]]"}},
        {"size=[1, 2], antialias=True", {"uint8 HW [[1, 2, 3, 4, 5, 60]]"}, {"uint8 [[2, 18]]"}},
        {"resize_shorter=2, crop_h=1, crop_w=2, crop_pos_x=1.0, crop_pos_y=0.0, mirror=1, "
         "dtype=types.FLOAT",
         {"uint8 HWC [[[1], [2], [3]], [[4], [5], [6]]]"},
         {"float32 [[[3], [2]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::FastResizeCropMirror)
