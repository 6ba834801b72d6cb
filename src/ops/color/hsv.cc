// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/color_matrix.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Hsv : OneBlock<Hsv> {
  float hue = 0, saturation = 1, value = 1;
  DType dtype = DType::kUint8;

  static constexpr auto schema = describe(
      "hsv",
      "Changes hue, saturation and value of images.\n\n"
      "Hue and saturation are changed linearly, in YIQ, and so not quite as HSV means them. Images "
      "are RGB.",
      kColorInputs, kColorOutputs,
      arg(&Hsv::hue, "hue", "How far the hue turns, in degrees.", kPerFrame),
      arg(&Hsv::saturation, "saturation", "Factor of the saturation; 0 leaves grays.", kPerFrame),
      arg(&Hsv::value, "value", "Factor of all values.", kPerFrame),
      arg(&Hsv::dtype, "dtype", "Output dtype. Values are rounded and saturate."));

  Block block(const TensorType& in) const {
    return color_block({.hue = hue, .saturation = saturation, .brightness = value}, in, dtype,
                       ImageType::kRGB);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2, 3]]]"}, {"uint8 [[[1, 2, 3]]]"}},
        {"saturation=0.0, value=0.5, dtype=types.INT16",
         {"uint8 HWC [[[100, 100, 100]]]"},
         {"int16 [[[50, 50, 50]]]"}},
        {"value=0.5",
         {"float32 CHW [[[1.0]], [[300.0]], [[600.0]]]"},
         {"uint8 [[[1]], [[150]], [[255]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Hsv)
