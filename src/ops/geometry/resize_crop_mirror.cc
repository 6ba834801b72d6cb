// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/resized_crop.h"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct ResizeCropMirror : ResizedCrop {
  static constexpr auto schema = describe(
      "resize_crop_mirror",
      "Resizes an image, cuts a window out of it, and mirrors that.\n\n"
      "This is resize, then crop, then flip, with their arguments, in one pass: only what is seen "
      "is computed. Accepts any dtype.",
      kResizedCropInputs, kResizedCropOutputs, kResizedCropArguments);

  static std::vector<Case> cases() {
    return {
        {"size=[2, 4], interp_type=types.INTERP_NN, crop=[1, 2], crop_pos_x=0.0, crop_pos_y=0.0",
         {"uint8 HW [[1, 2]]"},
         {"uint8 [[1, 1]]"}},
        {"mirror=1", {"uint8 HWC [[[1], [2]], [[3], [4]]]"}, {"uint8 [[[2], [1]], [[4], [3]]]"}},
        {"resize_shorter=2, interp_type=types.INTERP_NN, crop_h=1, crop_w=3, mirror=1, "
         "dtype=types.FLOAT",
         {"uint8 CHW [[[1, 2, 3]]]"},
         {"float32 [[[3, 2, 2]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::ResizeCropMirror)
