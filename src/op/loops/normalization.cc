// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/normalization.h"

#include "kernels/elements/boxes.h"
#include "op/loops/reduced_axes.h"
#include "op/rules.h"

namespace stoker {
namespace {

bool is_one_number(const ShapedNumbers& n) { return n.values.size() == 1; }

// Throws WrongCall unless the numbers are one for each group.
void require_fit(const char* name, const std::optional<ShapedNumbers>& given, Shape groups) {
  if (!given || is_one_number(*given)) return;
  const Shape& shape = given->shape;
  bool fits = shape.rank == groups.rank;
  for (int a = 0; fits && a < shape.rank; ++a) fits = groups[a] < 0 || groups[a] == shape[a];
  require(fits, "argument '", name, "' has the shape ", shape.str(),
          ", expected one number or the shape ", groups.str(), ", with 1 for each reduced axis");
}

}  // namespace

std::array<bool, kMaxRank> Normalization::reduced(const TensorType& in) const {
  ReducedAxes chosen{axes, axis_names};
  if (!axes && !axis_names) {
    for (const auto* given : {&mean, &stddev}) {
      if (!*given || is_one_number(**given) || (*given)->shape.rank != in.shape.rank) continue;
      chosen.axes.emplace();
      for (int a = 0; a < in.shape.rank; ++a)
        if ((*given)->shape[a] == 1) chosen.axes->push_back(a);
      break;
    }
  }
  const auto reduced = chosen.flags(in);
  Shape groups = in.shape;
  for (int a = 0; a < in.shape.rank; ++a)
    if (reduced[static_cast<size_t>(a)]) groups[a] = 1;
  require_fit("mean", mean, groups);
  require_fit("stddev", stddev, groups);
  return reduced;
}

Window Normalization::groups(const TensorType& in, const Window& window) const {
  const auto flags = reduced(in);
  Window w = window;
  for (int a = 0; a < in.shape.rank; ++a)
    if (flags[static_cast<size_t>(a)]) w.begin[a] = 0, w.end[a] = 1;
  return w;
}

Window Normalization::needed(const TensorType& in, const Window& wanted) const {
  if (mean && stddev) return wanted;
  const auto flags = reduced(in);
  Window w = wanted;
  for (int a = 0; a < in.shape.rank; ++a)
    if (flags[static_cast<size_t>(a)]) w.begin[a] = 0, w.end[a] = in.shape[a];
  return w;
}

Shape step_between(const Window& groups, const std::array<bool, kMaxRank>& reduced) {
  Shape step = View::dense_strides(groups.shape(), 1);
  for (int a = 0; a < step.rank; ++a)
    if (reduced[static_cast<size_t>(a)]) step[a] = 0;
  return step;
}

std::vector<float> numbers_of(const ShapedNumbers& given, const Window& groups) {
  std::vector<float> all(static_cast<size_t>(groups.shape().volume()), given.values[0]);
  if (!is_one_number(given))
    copy_window(View::dense(const_cast<float*>(given.values.data()), DType::kFloat32, given.shape),
                View::window(all.data(), DType::kFloat32, groups, given.shape));
  return all;
}

}  // namespace stoker
