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
  Filter f = (shrinks ? a.min_filter : a.mag_filter).value_or(a.interp_type);
  if (f == Filter::kLinear && widens) f = Filter::kTriangular;
  if (f == Filter::kTriangular && !widens) f = Filter::kLinear;
  return {axis, out, lo, hi, f, unit_radius(f) * (widens ? scale : 1)};
}

void require_pixels(const TensorType& in) {
  require(in.shape.volume() > 0, "the input has no pixels: shape ", in.shape);
}

}  // namespace stoker
