// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/normalization.h"

#include "kernels/elements/boxes.h"
#include "kernels/statistics/sum.h"
#include "op/arguments/reduced_axes.h"
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

void NormalizationArguments::require_one_numbers() const {
  for (const auto& [name, given] : {std::pair{"mean", &mean}, std::pair{"stddev", &stddev}})
    require(!*given || is_one_number(**given), "argument '", name, "' has ",
            *given ? (*given)->values.size() : 0, " values, expected one number under batch=True");
}

std::array<bool, kMaxRank> NormalizationArguments::reduced(const TensorType& in) const {
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

Window NormalizationArguments::groups(const TensorType& in, const Window& window) const {
  const auto flags = reduced(in);
  Window w = window;
  for (int a = 0; a < in.shape.rank; ++a)
    if (flags[static_cast<size_t>(a)]) w.begin[a] = 0, w.end[a] = 1;
  return w;
}

Window NormalizationArguments::needed(const TensorType& in, const Window& wanted) const {
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

void normalize_on_cpu(const NormalizationArguments& how, const View& in, const View& out,
                      Arena& scratch) {
  if (out.shape.volume() == 0) return;
  const TensorType whole = in.whole();
  const auto flags = how.reduced(whole);
  const Window which = how.groups(whole, out.covers());
  const View part = part_of(in, how.needed(whole, out.covers()));
  const int64_t n = which.shape().volume(), count = part.shape.volume() / n;
  std::vector<double> centres(static_cast<size_t>(n)), squares(centres);
  std::vector<float> means, factors;
  if (how.mean) {
    means = numbers_of(*how.mean, which);
    centres.assign(means.begin(), means.end());
  } else {
    sum(part, flags.data(), View::dense(centres.data(), DType::kFloat64, Shape{n}), scratch);
    for (double& c : centres) means.push_back(static_cast<float>(c = mean_of(c, count)));
  }
  if (how.stddev) {
    for (float s : numbers_of(*how.stddev, which)) factors.push_back(how.spread().given(s));
  } else {
    const View all = View::dense(squares.data(), DType::kFloat64, Shape{n});
    sum_squared_distances(part, flags.data(), centres.data(), all, scratch);
    for (double s : squares) factors.push_back(how.spread().computed(s, count));
  }
  normalize(part_of(in, out.covers()), means.data(), factors.data(), step_between(which, flags),
            how.shift, out, scratch);
}

void normalize_on_cpu(std::span<const NormalizedSample> samples, Arena& scratch) {
  const NormalizationArguments& first = samples[0].how;
  const TensorType type = samples[0].in.whole();
  const Window which = first.groups(type, Window::all(type.shape));
  const int64_t n = which.shape().volume();
  if (n == 0) return;
  int64_t count = 0;
  for (const NormalizedSample& s : samples) count += s.in.shape.volume() / n;
  // Adds, for each sample, what `of_sample` puts into its view.
  std::vector<double> part(static_cast<size_t>(n));
  const View to = View::dense(part.data(), DType::kFloat64, Shape{n});
  const auto add_up = [&](const auto& of_sample) {
    std::vector<double> all(part.size());
    for (const NormalizedSample& s : samples) {
      of_sample(s, s.how.reduced(type).data());
      for (size_t k = 0; k < all.size(); ++k) all[k] += part[k];
    }
    return all;
  };
  std::vector<double> sums(part.size()), squares(part.size());
  if (!first.mean)
    sums = add_up(
        [&](const NormalizedSample& s, const bool* flags) { sum(s.in, flags, to, scratch); });
  // The centres of a sample's groups. They differ between samples if they were given.
  const auto centres = [&](const NormalizedSample& s) {
    std::vector<double> all;
    for (const double x : sums)
      all.push_back(s.how.mean ? static_cast<double>(s.how.mean->values[0]) : mean_of(x, count));
    return all;
  };
  if (!first.stddev)
    squares = add_up([&](const NormalizedSample& s, const bool* flags) {
      sum_squared_distances(s.in, flags, centres(s).data(), to, scratch);
    });
  for (const NormalizedSample& s : samples) {
    if (s.out.shape.volume() == 0) continue;
    const DeviationScale spread = s.how.spread();
    std::vector<float> means, factors;
    for (const double c : centres(s)) means.push_back(static_cast<float>(c));
    for (const double x : squares)
      factors.push_back(s.how.stddev ? spread.given(s.how.stddev->values[0])
                                     : spread.computed(x, count));
    normalize(s.in, means.data(), factors.data(), step_between(which, s.how.reduced(type)),
              s.how.shift, s.out, scratch);
  }
}

}  // namespace stoker
