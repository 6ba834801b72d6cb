// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The window that the crop arguments choose, for crop, crop_mirror_normalize and
// decoders.image_crop. Pure functions; thread-safe.
#pragma once
#include <optional>

#include "op/context.h"
#include "op/schema.h"

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
        "Depth of the window (axis D, or the frames of a sequence without D). Needs crop_h and "
        "crop_w.",
        at_least(0), kPerSample),
    arg(&CropArguments::crop_pos_z, "crop_pos_z",
        "Place of the window, from 0 at the front to 1 at the back.", between(0, 1), kPerSample),
};

// Throws GraphError when arguments exclude each other, or name an axis that the layout does not
// have.
void check_crop(const CropArguments& a, const Checker& c, const Layout& layout);

// The extents of the window, -1 where they are not known before the run.
Shape cropped_shape(const CropArguments& a, const Checker& c, const TensorType& in);

// The window, in full coordinates. It reaches outside when it is larger than the input. Axes that
// are not cropped are whole.
Window crop_window(const CropArguments& a, const TensorType& in);

}  // namespace stoker
