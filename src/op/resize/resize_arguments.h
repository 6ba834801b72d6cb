// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "op/arguments/dtype_argument.h"
#include "op/resize/filter.h"
#include "op/resize/size.h"

namespace stoker {

struct ResizeArguments : FilterArguments, DtypeArgument {
  std::optional<Small<float>> size, max_size, roi_start, roi_end;
  float resize_x = 0, resize_y = 0, resize_z = 0;
  float resize_shorter = 0, resize_longer = 0;
  ResizeMode mode = ResizeMode::kDefault;
  bool subpixel_scale = true, roi_relative = false;

  // The spatial axes, outermost first.
  struct ResizedAxes {
    int rank = 0;
    int axis[kMaxSpatial] = {};
    char letter[kMaxSpatial] = {};
    explicit ResizedAxes(const Layout& layout) {
      for (int a = 0; a < layout.rank(); ++a)
        if (char c = layout.letters[a]; c == 'D' || c == 'H' || c == 'W')
          axis[rank] = a, letter[rank++] = c;
    }
  };

  // Throws WrongCall.
  Block resample(const TensorType& in) const;

 protected:
  // The resized input's type as far as it is known before the run. Throws WrongCall.
  TensorType checked_resize(Checker& c) const;

 private:
  void require_lengths(const Layout& layout) const;
  void warn_of_shares(Checker& c) const;
  double size_of_axis(int i, char letter) const;
  ResizeRequest size_request(const ResizedAxes& axes, const Shape& in) const;
  static bool drop_empty_axes(const ResizedAxes& axes, const Shape& in, ResizeRequest& r);
  Shape checked_shape(const Checker& c, const TensorType& in) const;
};
inline constexpr auto kResizeArguments = std::tuple{
    arg(&ResizeArguments::size, "size",
        "Output size, (H, W) or (D, H, W); one number serves all axes.", kPerSample),
    arg(&ResizeArguments::resize_x, "resize_x", "Output width.", kPerSample),
    arg(&ResizeArguments::resize_y, "resize_y", "Output height.", kPerSample),
    arg(&ResizeArguments::resize_z, "resize_z", "Output depth (axis D).", kPerSample),
    arg(&ResizeArguments::resize_shorter, "resize_shorter",
        "Size of the shortest axis; the aspect ratio stays. Excludes mode.", at_least(0),
        kPerSample),
    arg(&ResizeArguments::resize_longer, "resize_longer",
        "Size of the longest axis; the aspect ratio stays. Excludes mode.", at_least(0),
        kPerSample),
    arg(&ResizeArguments::mode, "mode",
        "'default': axes without a size are scaled by the geometric mean of the other scales; "
        "'stretch': they keep their size; 'not_smaller', 'not_larger': all axes have one scale, "
        "so that none gets smaller or larger than asked for."),
    arg(&ResizeArguments::max_size, "max_size",
        "Limit of the output size, one for all axes or one per axis; 0 is no limit.", at_least(0)),
    arg(&ResizeArguments::subpixel_scale, "subpixel_scale",
        "Where the output size has to be rounded, stretch the input's region around its centre "
        "so that the scale stays exact. With False the region stays and the scale changes, as in "
        "Pillow and OpenCV."),
    arg(&ResizeArguments::roi_start, "roi_start",
        "Start of the region to resize, by axis. Needs roi_end.", kPerSample),
    arg(&ResizeArguments::roi_end, "roi_end",
        "End of the region to resize, by axis. An end before the start mirrors the axis.",
        kPerSample),
    arg(&ResizeArguments::roi_relative, "roi_relative",
        "Whether the region is given as fractions of the extents (0 to 1) instead of pixels.")};
inline constexpr std::array kIgnoredResizeArguments = {"minibatch_size", "temp_buffer_hint"};

}  // namespace stoker
