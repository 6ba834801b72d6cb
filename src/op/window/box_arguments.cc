// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/box_arguments.h"

#include <algorithm>

#include "op/arguments/axes_argument.h"
#include "op/rules.h"

namespace stoker {

std::vector<Window> BoxArguments::boxes(const TensorType& in) const {
  std::vector<Window> all;
  if (shape.empty()) return all;
  const bool by_default =
      !axes && !axis_names && in.layout.find('H') >= 0 && in.layout.find('W') >= 0;
  const Small<int> chosen =
      axes_asked(axes.value_or(Small<int>{1, 0}), by_default ? Layout("HW") : axis_names, in);
  const size_t n = chosen.size();
  require(n > 0 && shape.size() % n == 0, "argument 'shape' has ", shape.size(),
          " values, expected ", n, " for each box, one per axis");
  if (!anchor.empty())
    require_count("argument 'anchor'", anchor.size(), {static_cast<int64_t>(shape.size())},
                  "one for each of 'shape'");
  for (size_t k = 0; k < shape.size(); ++k) {
    if (k % n == 0) all.push_back(Window::all(in.shape));
    const int axis = chosen[k % n];
    set_span(all.back(), axis, k, static_cast<double>(in.shape[axis]));
  }
  return all;
}

// Fractions are floats, so 50/60 of 60 is a little less than 50. What is cut to whole elements is
// first moved by as much as two roundings of a float may have taken away.
void BoxArguments::set_span(Window& w, int axis, size_t k, double extent) const {
  const bool share_anchor = normalized || normalized_anchor;
  const bool share_shape = normalized || normalized_shape;
  double begin = anchor.empty() ? 0 : static_cast<double>(anchor[k]);
  double size = static_cast<double>(shape[k]);
  if (share_anchor && !share_shape) begin *= extent;
  if (share_shape && !share_anchor) size *= extent;
  if (centered_anchor) begin -= size / 2;
  const double scale = share_anchor && share_shape ? extent : 1;
  const double lost = share_anchor || share_shape ? 0x1p-22 * extent : 0;
  const auto cut = [&](double x) {
    const double at = x * scale + lost;
    return at > 0 ? static_cast<int64_t>(std::min(at, extent)) : 0;
  };
  w.begin[axis] = cut(begin), w.end[axis] = cut(begin + size);
}

}  // namespace stoker
