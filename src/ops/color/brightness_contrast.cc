// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/brightness_contrast.h"
#include "op/color/one_block.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct BrightnessContrast : BrightnessArguments,
                            ContrastArguments,
                            DtypeArgument,
                            OneBlock<BrightnessContrast> {
  static constexpr auto schema = describe(
      "brightness_contrast",
      "Changes brightness and contrast.\n\n"
      "The contrast scales the distance of values from a center. Then the brightness scales all of "
      "the value, and at last a part of the full intensity is added. The result is rounded once.",
      kBrightnessInputs, ports({.name = "output", .help = "The input with other values."}),
      kBrightnessArguments, kContrastArguments, kDtypeArgument);

  Block block(const TensorType& in) const {
    return brightness_contrast(*this, *this, in.dtype, dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[1, 2]]"}, {"uint8 [[1, 2]]"}},
        {"contrast=0.5, brightness=2.0, brightness_shift=-0.2",
         {"uint8 HWC [[[0, 100, 200]]]"},
         {"uint8 [[[77, 177, 255]]]"}},
        {"contrast=3.0, contrast_center=0.0, dtype=types.UINT8",
         {"float32 CHW [[[0.5]], [[1.5]], [[-1.0]]]"},
         {"uint8 [[[2]], [[5]], [[0]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::BrightnessContrast)
