// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/color_matrix.h"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Hue : ColorArguments, OneBlock<Hue> {
  float hue = 0;

  static constexpr auto schema = describe(
      "hue",
      "Turns the hue of images.\n\n"
      "This is linear, in YIQ, and so not quite what HSV means by it.",
      kColorInputs, kColorOutputs,
      arg(&Hue::hue, "hue", "How far the hue turns, in degrees.", kPerFrame), kColorArguments);

  Block block(const TensorType& in) const {
    return color_block({.hue = hue}, in, dtype.value_or(in.dtype), image_type);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2, 3]]]"}, {"uint8 [[[1, 2, 3]]]"}},
        {"hue=90.0", {"int16 HWC [[[50, 50, 50]]]"}, {"int16 [[[50, 50, 50]]]"}},
        {"hue=180.0", {"uint8 CHW [[[255]], [[0]], [[0]]]"}, {"uint8 [[[0]], [[152]], [[153]]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Hue)
