// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/color/brightness_contrast.h"

namespace stoker {

Block brightness_contrast(const BrightnessArguments& b, const ContrastArguments& c, DType in,
                          DType result) {
  const auto middle = info(in).is_float ? 0.5f : static_cast<float>((full_intensity(in) + 1) / 2);
  const double gain = b.brightness, center = c.contrast_center.value_or(middle);
  const double add = b.brightness_shift * full_intensity(result) +
                     gain * (center - center * static_cast<double>(c.contrast));
  return {Pointwise{{}, {static_cast<float>(gain * c.contrast)}, {static_cast<float>(add)}},
          result};
}

}  // namespace stoker
