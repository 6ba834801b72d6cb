// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/color_matrix.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Saturation : ColorArguments, OneBlock<Saturation> {
  float saturation = 1;

  static constexpr auto schema =
      describe("saturation",
               "Scales the saturation of images.\n\n"
               "This is linear, in YIQ: 0 leaves grays of the same luma.",
               kColorInputs, kColorOutputs,
               arg(&Saturation::saturation, "saturation",
                   "Factor of the saturation; 0 leaves grays.", kPerFrame),
               kColorArguments);

  Block block(const TensorType& in) const {
    return color_block({.saturation = saturation}, in, dtype.value_or(in.dtype), image_type);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2, 3]]]"}, {"uint8 [[[1, 2, 3]]]"}},
        {"saturation=0.0", {"uint8 HWC [[[0, 255, 0]]]"}, {"uint8 [[[150, 150, 150]]]"}},
        {"saturation=0.5, image_type=types.BGR",
         {"uint8 HWC [[[0, 0, 200]]]"},
         {"uint8 [[[30, 30, 130]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Saturation)
