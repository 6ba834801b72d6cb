// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/color_matrix.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct ColorTwist : ColorArguments, OneBlock<ColorTwist> {
  float hue = 0, saturation = 1, contrast = 1, brightness = 1;

  static constexpr auto schema = describe(
      "color_twist",
      "Changes hue, saturation, contrast and brightness of images.\n\n"
      "The hue turns and the saturation is scaled, both in YIQ and so linearly; then the contrast "
      "is scaled about the middle gray, which is 128 for integers and 0.5 for floats; then all "
      "values are scaled. This is one matrix, and the result is rounded once.",
      kColorInputs, kColorOutputs,
      arg(&ColorTwist::hue, "hue", "How far the hue turns, in degrees.", kPerFrame),
      arg(&ColorTwist::saturation, "saturation", "Factor of the saturation; 0 leaves grays.",
          kPerFrame),
      arg(&ColorTwist::contrast, "contrast", "Factor of the distance from the middle gray.",
          kPerFrame),
      arg(&ColorTwist::brightness, "brightness", "Factor of all values, the last step.", kPerFrame),
      kColorArguments);

  Block block(const TensorType& in) const {
    return color_block({hue, saturation, contrast, brightness}, in, dtype.value_or(in.dtype),
                       image_type);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2, 3]]]"}, {"uint8 [[[1, 2, 3]]]"}},
        {"brightness=2.0, contrast=0.5",
         {"uint8 HWC [[[0, 100, 200]]]"},
         {"uint8 [[[128, 228, 255]]]"}},
        {"saturation=0.0", {"uint8 HWC [[[255, 0, 0]]]"}, {"uint8 [[[76, 76, 76]]]"}},
        {"contrast=3.0, dtype=types.UINT8",
         {"float32 CHW [[[0.5]], [[1.5]], [[-1.0]]]"},
         {"uint8 [[[1]], [[4]], [[0]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::ColorTwist)
