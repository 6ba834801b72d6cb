// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The arguments of boxes in a tensor. One list may give several.
#pragma once
#include <vector>

#include "op/context.h"
#include "op/schema.h"

namespace stoker {

struct BoxArguments {
  Small<float> anchor, shape;
  std::optional<Small<int>> axes;
  std::optional<Layout> axis_names;
  bool centered_anchor = false, normalized = false;
  bool normalized_anchor = false, normalized_shape = false;

  // The boxes, cut to the tensor and perhaps empty. Throws WrongCall if the lists do not fit it or
  // each other. Requires: the rank of `in` is known.
  std::vector<Window> boxes(const TensorType& in) const;

 private:
  void set_span(Window& w, int axis, size_t k, double extent) const;
};

inline constexpr auto kBoxArguments = std::tuple{
    arg(&BoxArguments::anchor, "anchor", "Where the boxes start. Default: 0.", kPerSample),
    arg(&BoxArguments::shape, "shape", "Sizes of the boxes.", at_least(0), kPerSample),
    arg(&BoxArguments::axes, "axes",
        "The axes of anchor and shape, by number; negative ones count from the end. Default: H and "
        "W, in this order, where the layout has them, else [1, 0]."),
    arg(&BoxArguments::axis_names, "axis_names",
        "The axes of anchor and shape, by letter of the layout; takes precedence over axes."),
    arg(&BoxArguments::centered_anchor, "centered_anchor", "Whether the anchor is a box's centre."),
    arg(&BoxArguments::normalized, "normalized",
        "Whether anchor and shape are fractions of the extent."),
    arg(&BoxArguments::normalized_anchor, "normalized_anchor",
        "Whether anchor is a fraction of the extent."),
    arg(&BoxArguments::normalized_shape, "normalized_shape",
        "Whether shape is a fraction of the extent."),
};

}  // namespace stoker
