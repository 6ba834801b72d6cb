// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/filter.h"

#include <cmath>

#include "op/rules.h"

namespace stoker {

namespace {

// Half of the filter's width at scale 1.
double unit_radius(Filter f) {
  switch (f) {
    case Filter::kCubic: return 2;
    case Filter::kLanczos3: return 3;
    default: return 1;
  }
}

}  // namespace

ResampleAxis resample_axis(const FilterArguments& a, int axis, int64_t out, double lo, double hi) {
  const double scale = std::fabs(hi - lo) / static_cast<double>(out);
  const bool shrinks = scale > 1, widens = shrinks && a.antialias;
  Filter f =
      (shrinks ? a.min_filter : a.mag_filter).value_or(a.interp_type.value_or(Filter::kLinear));
  if (f == Filter::kLinear && widens) f = Filter::kTriangular;
  if (f == Filter::kTriangular && !widens) f = Filter::kLinear;
  const double radius = unit_radius(f) * (widens ? scale : 1);
  return {axis, out, lo, hi, f, radius, a.border == ResizeBorder::kClamp};
}

void take_nearest(const Checker& c, const char* argument, std::optional<Filter>& filter) {
  require(!c.is_computed(argument), "the input holds class numbers, so argument '", argument,
          "' expects types.INTERP_NN itself, not what another operator computes");
  const Filter asked = filter.value_or(Filter::kNearest);
  require(asked == Filter::kNearest, "the input holds class numbers, which ", asked,
          " would mix: argument '", argument,
          "' expects types.INTERP_NN. If they are meant as quantities, make them so first: "
          "fn.cast(x, dtype=...)");
  filter = Filter::kNearest;
}

void FilterArguments::take_classes(const Checker& c) {
  take_nearest(c, "interp_type", interp_type);
  take_nearest(c, "min_filter", min_filter);
  take_nearest(c, "mag_filter", mag_filter);
}

void require_pixels(const TensorType& in) {
  require(in.shape.volume() > 0, "the input has no pixels: shape ", in.shape);
}

}  // namespace stoker
