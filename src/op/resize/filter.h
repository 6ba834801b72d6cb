// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which filter resamples an axis, for resize and random_resized_crop. Pure functions; thread-safe.
#pragma once
#include <optional>

#include "op/context.h"
#include "op/schema.h"

namespace stoker {

template <>
struct EnumNames<Filter> {
  static constexpr const char* kType = "InterpType";
  static constexpr const char* kNames[] = {"INTERP_NN",         "INTERP_LINEAR",
                                           "INTERP_CUBIC",      "INTERP_LANCZOS3",
                                           "INTERP_TRIANGULAR", "INTERP_GAUSSIAN"};
};

struct FilterArguments {
  Filter interp_type = Filter::kLinear;
  std::optional<Filter> min_filter = {}, mag_filter = {};
  bool antialias = true;
};
inline constexpr auto kFilterArguments = std::tuple{
    arg(&FilterArguments::interp_type, "interp_type",
        "The filter, unless min_filter or mag_filter is given.", kPerSample),
    arg(&FilterArguments::min_filter, "min_filter",
        "The filter along axes that shrink; default: interp_type.", kPerSample),
    arg(&FilterArguments::mag_filter, "mag_filter",
        "The filter along axes that grow; default: interp_type.", kPerSample),
    arg(&FilterArguments::antialias, "antialias",
        "Widen the filter along axes that shrink, so that fine patterns do not turn into coarse "
        "ones. No effect on nearest neighbour."),
};

// The axis whose output positions [0, out) cover the input interval [lo, hi); hi < lo mirrors.
// Requires: out > 0.
ResampleAxis resample_axis(const FilterArguments& a, int axis, int64_t out, double lo, double hi);

// Throws WrongCall when there is nothing to resample.
void require_pixels(const TensorType& in);

}  // namespace stoker
