// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/arguments/dtype_argument.h"
#include "op/color/one_block.h"
#include "op/decode/encoded_picture.h"

namespace stoker {

struct ColorArguments : DtypeArgument {
  ImageType image_type = ImageType::kRGB;
};
inline constexpr auto kColorArguments = std::tuple{
    kDtypeArgument,
    arg(&ColorArguments::image_type, "image_type", "Order of the channels: RGB or BGR.")};

inline constexpr auto kColorInputs =
    ports({.name = "input",
           .help = "Images with three channels.",
           .layouts = "HWC, CHW, DHWC, CDHW",
           .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, float32, "
                     "float64"});
inline constexpr auto kColorOutputs =
    ports({.name = "output", .help = "The images with other colours."});

// What becomes of colours, in this order: the hue turns by so many degrees, the saturation is
// scaled (both in YIQ), then the contrast about the middle gray, then all values.
struct ColorChange {
  float hue = 0, saturation = 1, contrast = 1, brightness = 1;
};

// The middle gray is 128 for integers and 0.5 for floats. Throws WrongCall unless pictures of this
// type have three channels, if their number is known.
Block color_block(const ColorChange& t, const TensorType& in, DType result, ImageType order);

}  // namespace stoker
