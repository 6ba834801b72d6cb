// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/context.h"
#include "op/schema.h"
#include "op/window/out_of_bounds.h"

namespace stoker {

enum class Rounding : uint8_t { kRound, kTruncate };
template <>
struct EnumNames<Rounding> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"round", "truncate"};
};

struct CropArguments {
  std::optional<Small<float>> crop = {};
  float crop_d = 0, crop_h = 0, crop_w = 0;
  float crop_pos_x = 0.5f, crop_pos_y = 0.5f, crop_pos_z = 0.5f;
  Rounding rounding = Rounding::kRound;
};

inline constexpr auto kCropArguments = std::tuple{
    arg(&CropArguments::crop, "crop",
        "Size of the window in pixels, (H, W) or (D, H, W), truncated to whole numbers; 0 takes "
        "the whole axis. Excludes crop_h, crop_w and crop_d.",
        at_least(0), kPerSample),
    arg(&CropArguments::crop_h, "crop_h", "Height of the window in pixels. Needs crop_w.",
        at_least(0), kPerSample),
    arg(&CropArguments::crop_w, "crop_w", "Width of the window in pixels. Needs crop_h.",
        at_least(0), kPerSample),
    arg(&CropArguments::crop_pos_x, "crop_pos_x",
        "Place of the window, from 0 at the left edge to 1 at the right edge.", between(0, 1),
        kPerSample),
    arg(&CropArguments::crop_pos_y, "crop_pos_y",
        "Place of the window, from 0 at the top to 1 at the bottom.", between(0, 1), kPerSample),
    arg(&CropArguments::rounding, "rounding",
        "How the window's start becomes a whole number: 'round' (halves away from zero) or "
        "'truncate'."),
};
inline constexpr auto kCropDepthArguments = std::tuple{
    arg(&CropArguments::crop_d, "crop_d",
        "Depth of the window (axis D, or the frames of a sequence without D; without either it has "
        "no effect). Needs crop_h and crop_w.",
        at_least(0), kPerSample),
    arg(&CropArguments::crop_pos_z, "crop_pos_z",
        "Place of the window, from 0 at the front to 1 at the back.", between(0, 1), kPerSample),
};

// The window's extents after the policy; -1 where they are not known before the run. Throws
// WrongCall when arguments exclude each other, or name an axis that the layout does not have.
Shape checked_crop(const CropArguments& a, OutOfBounds policy, const Checker& c,
                   const TensorType& in);

// The window after the policy, in full coordinates. Under 'pad' it may reach outside. Axes that are
// not cropped are whole. Throws WrongCall under 'error'.
Window crop_window(const CropArguments& a, std::optional<OutOfBounds> policy, const TensorType& in);

}  // namespace stoker
