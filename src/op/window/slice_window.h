// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/context.h"
#include "op/schema.h"
#include "op/window/out_of_bounds.h"

namespace stoker {

struct SliceArguments {
  std::optional<Small<int>> axes = {};
  std::optional<Layout> axis_names = {};
  std::optional<Small<int64_t>> start = {}, end = {}, shape = {};
  std::optional<Small<float>> rel_start = {}, rel_end = {}, rel_shape = {};
  bool normalized_anchor = true, normalized_shape = true;
};

inline constexpr auto kSliceArguments = std::tuple{
    arg(&SliceArguments::axes, "axes",
        "The axes that are sliced, by number; negative ones count from the end, and [] are all. "
        "Default, where the layout has no W and H: [1, 0].",
        kPerSample),
    arg(&SliceArguments::axis_names, "axis_names",
        "The axes that are sliced, by letter of the layout, and '' are all. Data without a layout "
        "are HW, HWC or DHWC here. Excludes axes. Default: 'WH'."),
    arg(&SliceArguments::start, "start",
        "Where the window starts, in elements. Default, as for []: 0.", kPerSample),
    arg(&SliceArguments::rel_start, "rel_start",
        "Where the window starts, as a fraction of the extent.", kPerSample),
    arg(&SliceArguments::end, "end",
        "Where the window ends, in elements. Default: the end of the axis.", kPerSample),
    arg(&SliceArguments::rel_end, "rel_end", "Where the window ends, as a fraction of the extent.",
        kPerSample),
    arg(&SliceArguments::shape, "shape", "Size of the window, in elements.", at_least(0),
        kPerSample),
    arg(&SliceArguments::rel_shape, "rel_shape", "Size of the window, as a fraction of the extent.",
        at_least(0), kPerSample),
    arg(&SliceArguments::normalized_anchor, "normalized_anchor",
        "Whether a floating-point anchor input is a fraction of the extent."),
    arg(&SliceArguments::normalized_shape, "normalized_shape",
        "Whether a floating-point shape input is a fraction of the extent."),
};

inline constexpr Port kSliceAnchorPort = {
    .name = "anchor",
    .help = "Where the window starts. Integers count elements.",
    .is_optional = true,
    .is_value = true};
inline constexpr Port kSliceShapePort = {.name = "shape_input",
                                         .help = "Size of the window. Integers count elements.",
                                         .is_optional = true,
                                         .is_value = true};

// The window's extents after the policy; -1 where they are not known before the run. Throws
// WrongCall when the window is given in no way or in several.
Shape checked_slice(const SliceArguments& a, OutOfBounds policy, const Checker& c,
                    const TensorType& in);

// The window before any policy, in full coordinates. It may reach outside. `anchor` and `size` are
// null if the inputs are missing. Throws WrongCall.
Window slice_window(const SliceArguments& a, const TensorType& in, const View* anchor,
                    const View* size);

// For the error about a window that reaches outside: what to do if it was given as (y, x) instead
// of (x, y), as it seems if it fits the other way round; else "".
std::string order_hint(const Window& w, const SliceArguments& a, const TensorType& in,
                       const View* anchor, const View* size);

}  // namespace stoker
