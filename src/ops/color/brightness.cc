// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/brightness_contrast.h"
#include "op/color/one_block.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Brightness : BrightnessArguments, DtypeArgument, OneBlock<Brightness> {
  static constexpr auto schema =
      describe("brightness",
               "Changes the brightness of images.\n\n"
               "All values are scaled, and then a part of the full intensity is added.",
               kBrightnessInputs, ports({.name = "output", .help = "The input with other values."}),
               kBrightnessArguments, kDtypeArgument);

  Block block(const TensorType& in) const {
    return brightness_contrast(*this, {}, in.dtype, dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[1, 2]]"}, {"uint8 [[1, 2]]"}},
        {"brightness=1.5, brightness_shift=0.2",
         {"uint8 HWC [[[0, 1, 200]]]"},
         {"uint8 [[[51, 53, 255]]]"}},
        {"brightness=0.5, brightness_shift=-1.0, dtype=types.FLOAT",
         {"int16 CHW [[[3]], [[-4]]]"},
         {"float32 [[[0.5]], [[-3]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Brightness)
