// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/reduced_axes.h"

#include "op/arguments/axes_argument.h"

namespace stoker {

std::array<bool, kMaxRank> ReducedAxes::flags(const TensorType& in) const {
  require_one_kind(axes.has_value(), axis_names.has_value());
  std::array<bool, kMaxRank> reduced{};
  if (!axes && !axis_names) {
    std::fill_n(reduced.begin(), in.shape.rank, true);
    return reduced;
  }
  for (const int a : axes_asked(axes.value_or(Small<int>{}), axis_names, in))
    reduced[static_cast<size_t>(a)] = true;
  return reduced;
}

TensorType ReducedAxes::reduced_type(const TensorType& in, DType dtype) const {
  require_one_kind(axes.has_value(), axis_names.has_value());
  if (in.shape.rank < 0) return {dtype, {}, axes || axis_names ? in.shape : Shape{}};
  const auto reduced = flags(in);
  Shape shape;
  std::string layout;
  for (int a = 0; a < in.shape.rank; ++a) {
    const bool is_reduced = reduced[static_cast<size_t>(a)];
    if (is_reduced && !keep_dims) continue;
    shape.push_back(is_reduced ? 1 : in.shape[a]);
    if (!in.layout.empty()) layout += in.layout.letters[a];
  }
  return {dtype, layout, shape};
}

Window ReducedAxes::needed(const TensorType& in, const Window& wanted) const {
  const auto reduced = flags(in);
  Window w = Window::all(in.shape);
  for (int a = 0, to = 0; a < in.shape.rank; ++a) {
    if (!reduced[static_cast<size_t>(a)]) w.begin[a] = wanted.begin[to], w.end[a] = wanted.end[to];
    to += !reduced[static_cast<size_t>(a)] || keep_dims;
  }
  return w;
}

}  // namespace stoker
