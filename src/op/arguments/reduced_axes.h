// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "op/context.h"
#include "op/schema.h"

namespace stoker {

struct ReducedAxes {
  std::optional<Small<int>> axes;
  std::optional<Layout> axis_names;
  bool keep_dims = false;

  // Which axes of `in` are reduced. Throws WrongCall where one is missing or named twice. Requires:
  // the rank is known.
  std::array<bool, kMaxRank> flags(const TensorType& in) const;
  // The type of the output; an unknown rank stays unknown.
  TensorType reduced_type(const TensorType& in, DType dtype) const;
  Window needed(const TensorType& in, const Window& wanted) const;
};

inline constexpr auto kReducedAxes = std::tuple{
    arg(&ReducedAxes::axes, "axes",
        "The axes to reduce, by number; negative ones count from the end. An empty list reduces "
        "nothing. Default: all axes."),
    arg(&ReducedAxes::axis_names, "axis_names",
        "The axes to reduce, by letter of the layout. Excludes axes."),
    arg(&ReducedAxes::keep_dims, "keep_dims",
        "Whether reduced axes stay in the output, with the extent 1."),
};

}  // namespace stoker
