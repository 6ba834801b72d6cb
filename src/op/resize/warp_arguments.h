// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a warp shows between and outside of the input's values: arguments and rules. Plain values;
// thread-safe as such.
#pragma once
#include "op/dtype_argument.h"
#include "op/resize/filter.h"
#include "op/rules.h"

namespace stoker {

// Throws WrongCall.
inline void require_warp_filter(Filter filter) {
  require(filter == Filter::kNearest || filter == Filter::kLinear,
          "argument 'interp_type' is INTERP_NN or INTERP_LINEAR here");
}

struct WarpArguments : DtypeArgument {
  std::optional<float> fill_value = {};
  Filter interp_type = Filter::kLinear;

  // Adds the warp of the input. Throws WrongCall.
  void add_warp(Lowering& l, Warp w) const {
    require_pixels(l.type());
    w.linear = interp_type == Filter::kLinear;
    w.clamped = !fill_value;
    w.fill = fill_value.value_or(0);
    l.add(w, dtype.value_or(l.type().dtype));
  }
};
inline constexpr auto kWarpArguments = std::tuple{
    arg(&WarpArguments::fill_value, "fill_value",
        "Value outside the input; default: the nearest pixel of its border."),
    arg(&WarpArguments::interp_type, "interp_type", "INTERP_NN or INTERP_LINEAR."), kDtypeArgument};

}  // namespace stoker
