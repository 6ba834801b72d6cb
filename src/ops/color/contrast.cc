// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/brightness_contrast.h"
#include "op/color/one_block.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Contrast : ContrastArguments, DtypeArgument, OneBlock<Contrast> {
  static constexpr auto schema =
      describe("contrast",
               "Changes the contrast of images.\n\n"
               "This scales the distance of all values from a center.",
               kBrightnessInputs, ports({.name = "output", .help = "The input with other values."}),
               kContrastArguments, kDtypeArgument);

  Block block(const TensorType& in) const {
    return brightness_contrast({}, *this, in.dtype, dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[1, 2]]"}, {"uint8 [[1, 2]]"}},
        {"contrast=2.0", {"uint8 HWC [[[100, 128, 250]]]"}, {"uint8 [[[72, 128, 255]]]"}},
        {"contrast=0.5, contrast_center=10.0",
         {"float32 DHW [[[10, 12, -10]]]"},
         {"float32 [[[10, 11, 0]]]"}},
        {"contrast=0.0", {"int16 CHW [[[7]]]"}, {"int16 [[[16384]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Contrast)
