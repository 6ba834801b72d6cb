// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/classes.h"
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

// Chooses nearest neighbour, the only filter that keeps class numbers, unless another one was asked
// for. Throws WrongCall.
void take_nearest(const Checker& c, const char* argument, std::optional<Filter>& filter);

enum class ResizeBorder : uint8_t { kOmit, kClamp };
template <>
struct EnumNames<ResizeBorder> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"omit", "clamp"};
};

struct FilterArguments {
  std::optional<Filter> interp_type = {}, min_filter = {}, mag_filter = {};
  bool antialias = true;
  ResizeBorder border = ResizeBorder::kOmit;

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c);
};
inline constexpr auto kFilterArguments = std::tuple{
    arg(&FilterArguments::interp_type, "interp_type",
        "The filter, unless min_filter or mag_filter is given. Default: INTERP_LINEAR, and "
        "INTERP_NN for class numbers.",
        kPerSample),
    arg(&FilterArguments::min_filter, "min_filter",
        "The filter along axes that shrink; default: interp_type.", kPerSample),
    arg(&FilterArguments::mag_filter, "mag_filter",
        "The filter along axes that grow; default: interp_type.", kPerSample),
    arg(&FilterArguments::antialias, "antialias",
        "Widen the filter along axes that shrink, so that fine patterns do not turn into coarse "
        "ones. No effect on nearest neighbour."),
    arg(&FilterArguments::border, "border",
        "Where a filter reaches beyond the edge: leave that out, as Pillow does ('omit'), or take "
        "the outermost pixel again ('clamp')."),
};

// The axis whose output positions [0, out) cover the input interval [lo, hi); hi < lo mirrors.
// Requires: out > 0.
ResampleAxis resample_axis(const FilterArguments& a, int axis, int64_t out, double lo, double hi);

// Throws WrongCall when there is nothing to resample.
void require_pixels(const TensorType& in);

}  // namespace stoker
