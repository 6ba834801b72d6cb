// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/out_of_bounds.h"

#include "op/rules.h"

namespace stoker {

namespace {

std::string axis_name(const TensorType& in, int axis) {
  const std::string number = std::to_string(axis);
  return in.layout.empty() ? number : number + " (" + in.layout.str()[axis] + ")";
}

bool reaches_outside(const Window& w, const Shape& full, int axis) {
  return w.begin[axis] < 0 || w.end[axis] > full[axis];
}

}  // namespace

bool reaches_outside(const Window& w, const Shape& full) {
  for (int a = 0; a < full.rank; ++a)
    if (reaches_outside(w, full, a)) return true;
  return false;
}

Window settle(const Window& wanted, const TensorType& in, std::optional<OutOfBounds> policy,
              const std::string& hint) {
  Window w = wanted;
  for (int a = 0; a < in.shape.rank; ++a) {
    if (!reaches_outside(w, in.shape, a)) continue;
    require(policy.value_or(OutOfBounds::kError) != OutOfBounds::kError, "the window [", w.begin[a],
            ", ", w.end[a], ") of axis ", axis_name(in, a), " reaches outside its extent of ",
            in.shape[a],
            policy
                ? "; out_of_bounds_policy='pad' fills what is outside, 'trim_to_shape' cuts it off"
                : "",
            hint);
    if (policy == OutOfBounds::kPad) continue;
    w.begin[a] = std::clamp<int64_t>(w.begin[a], 0, in.shape[a]);
    w.end[a] = std::clamp<int64_t>(w.end[a], w.begin[a], in.shape[a]);
  }
  return w;
}

Gather cut(const Window& w, const TensorType& in, const Small<float>& fill_values) {
  Gather g;
  for (int a = 0; a < in.shape.rank; ++a) g.axis[a] = {w.begin[a], 1, w.end[a] - w.begin[a]};
  g.fill = fill_values;
  const int c = in.layout.find('C');
  const int64_t channels = c < 0 ? 1 : g.axis[c].extent;
  require_count("argument 'fill_values'", fill_values.size(), {1, channels}, "one per channel");
  return g;
}

}  // namespace stoker
