// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "kernels/statistics/normalize.h"
#include "op/context.h"
#include "op/schema.h"

namespace stoker {

// Elements whose positions differ only along the reduced axes are a group. A group's position is
// that of its elements, with 0 for each reduced axis.
struct NormalizationArguments {
  std::optional<Small<int>> axes;
  std::optional<Layout> axis_names;
  std::optional<ShapedNumbers> mean, stddev;
  float scale = 1, shift = 0, epsilon = 0;
  int ddof = 0;

  DeviationScale spread() const { return {scale, epsilon, ddof}; }

  // Throws WrongCall unless the mean and the deviation, if given, are one number each.
  void require_one_numbers() const;
  // Which axes of `in` are reduced. Throws WrongCall where an axis is missing or named twice, or
  // where the mean or the deviation has another shape. Requires: the rank is known.
  std::array<bool, kMaxRank> reduced(const TensorType& in) const;
  // The positions of the groups that have elements in this window of `in`.
  Window groups(const TensorType& in, const Window& window) const;
  Window needed(const TensorType& in, const Window& wanted) const;
};

// By axis: how many groups further the next element is, among those groups.
Shape step_between(const Window& groups, const std::array<bool, kMaxRank>& reduced);
// One number for each of the groups.
std::vector<float> numbers_of(const ShapedNumbers& given, const Window& groups);

// Normalises what `out` shows. Requires: `in` covers what needed() says.
void normalize_on_cpu(const NormalizationArguments& how, const View& in, const View& out,
                      Arena& scratch);

// A sample of a batch whose groups go through all samples. Given numbers serve all groups.
struct NormalizedSample {
  const NormalizationArguments& how;
  View in, out;  // whole
};
void normalize_on_cpu(std::span<const NormalizedSample> samples, Arena& scratch);

inline constexpr auto kNormalization = std::tuple{
    arg(&NormalizationArguments::axes, "axes",
        "The axes to reduce, by number; negative ones count from the end. An empty list reduces "
        "nothing. Default: those along which mean or stddev have the extent 1, where they are "
        "not one number, and else all axes."),
    arg(&NormalizationArguments::axis_names, "axis_names",
        "The axes to reduce, by letter of the layout. Excludes axes."),
    arg(&NormalizationArguments::mean, "mean",
        "The mean: one number, or an array with the extent 1 along reduced axes and the input's "
        "along others. Default: it is computed.",
        kPerSample),
    arg(&NormalizationArguments::stddev, "stddev",
        "The standard deviation, in the same forms. Default: it is computed.", at_least(0),
        kPerSample),
    arg(&NormalizationArguments::scale, "scale", "The standard deviation of the result.",
        kPerSample),
    arg(&NormalizationArguments::shift, "shift", "The mean of the result.", kPerSample),
    arg(&NormalizationArguments::epsilon, "epsilon",
        "What is added to each variance, also to a given one.", at_least(0), kPerSample),
    arg(&NormalizationArguments::ddof, "ddof",
        "A computed variance is the sum of the squared distances, divided by the number of "
        "elements less ddof.",
        at_least(0)),
};

}  // namespace stoker
