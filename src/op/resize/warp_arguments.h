// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a warp shows between and outside of the input's values.
#pragma once
#include "op/arguments/dtype_argument.h"
#include "op/resize/filter.h"
#include "op/rules.h"

namespace stoker {

inline void require_warp_filter(std::optional<Filter> filter) {
  require(!filter || filter == Filter::kNearest || filter == Filter::kLinear,
          "argument 'interp_type' is INTERP_NN or INTERP_LINEAR here");
}
inline constexpr const char* kWarpFilterHelp =
    "INTERP_NN or INTERP_LINEAR. Default: INTERP_LINEAR, and INTERP_NN for class numbers.";

struct WarpArguments : DtypeArgument {
  std::optional<float> fill_value = {};
  std::optional<Filter> interp_type = {};

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) {
    take_nearest(c, "interp_type", interp_type);
    if (fill_value) require_class_fill(c, "fill_value", {*fill_value});
  }

 protected:
  // Adds the warp of the input. Throws WrongCall.
  void add_warp(Lowering& l, Warp w) const {
    require_pixels(l.type());
    w.filter = interp_type.value_or(Filter::kLinear);
    w.border = fill_value ? Border::kConstant : Border::kClamp;
    w.fill = {fill_value.value_or(0)};
    l.add(w, dtype.value_or(l.type().dtype));
  }
};
inline constexpr auto kWarpArguments =
    std::tuple{arg(&WarpArguments::fill_value, "fill_value",
                   "Value outside the input; default: the nearest pixel of its border."),
               arg(&WarpArguments::interp_type, "interp_type", kWarpFilterHelp), kDtypeArgument};

}  // namespace stoker
