// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/arguments/dtype_argument.h"
#include "op/context.h"

namespace stoker {

struct BrightnessArguments {
  float brightness = 1, brightness_shift = 0;
};
inline constexpr auto kBrightnessArguments = std::tuple{
    arg(&BrightnessArguments::brightness, "brightness", "Factor of all values.", kPerFrame),
    arg(&BrightnessArguments::brightness_shift, "brightness_shift",
        "What is added at last, in parts of the full intensity of the output's dtype: 1 for "
        "floats, else its largest value.",
        kPerFrame)};

struct ContrastArguments {
  float contrast = 1;
  std::optional<float> contrast_center;
};
inline constexpr auto kContrastArguments = std::tuple{
    arg(&ContrastArguments::contrast, "contrast", "Factor of the distance from the center.",
        kPerFrame),
    arg(&ContrastArguments::contrast_center, "contrast_center",
        "The value that the contrast leaves as it is. Default: half the range of the input's "
        "dtype, such as 128 for uint8, 16384 for int16 and 0.5 for floats.",
        kPerFrame)};

inline constexpr auto kBrightnessInputs =
    ports({.name = "input",
           .help = "Images, volumes or sequences.",
           .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW",
           .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, float32, "
                     "float64"});

// brightness_shift * full intensity + brightness * (center + contrast * (value - center))
Block brightness_contrast(const BrightnessArguments& b, const ContrastArguments& c, DType in,
                          DType result);

}  // namespace stoker
