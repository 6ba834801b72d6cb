// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/fused_device/value.h"
#include "op/arguments/normalization.h"
#include "op/loops/gpu_sum.cuh"

namespace stoker {

// What is known and computed of the groups of an item, one number each.
struct GroupNumbers {
  DeviationScale spread;
  int64_t count;  // of elements in a group
  double* centres;  // first sums, then means
  double* squares;
  float *means, *factors;
  const float *given_means, *given_deviations;  // null where they are computed
};

struct SetMeans {
  GroupNumbers n;
  int64_t pieces;
  STOKER_HD void run(int64_t k) const {
    if (n.given_means) n.centres[k] = static_cast<double>(n.given_means[k]);
    else n.centres[k] = mean_of(n.centres[k], n.count);
    n.means[k] = static_cast<float>(n.centres[k]);
  }
};

struct SetFactors {
  GroupNumbers n;
  int64_t pieces;
  STOKER_HD void run(int64_t k) const {
    if (n.given_deviations) n.factors[k] = n.spread.given(n.given_deviations[k]);
    else n.factors[k] = n.spread.computed(n.squares[k], n.count);
  }
};

// Sets the numbers of each group to their sum over all items, which lie one behind the other.
struct AddItems {
  double* numbers;
  int64_t items, pieces;
  STOKER_HD void run(int64_t k) const {
    double sum = 0;
    for (int64_t i = 0; i < items; ++i) sum = detail::add_once(sum, numbers[i * pieces + k]);
    for (int64_t i = 0; i < items; ++i) numbers[i * pieces + k] = sum;
  }
};

struct NormalizeElement {
  const std::byte* in;
  Axes axes, groups;  // `groups`: in numbers
  const float *means, *factors;
  float shift;
  std::byte* out;
  DType from, to;
  int to_size;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const DeviceValue v = load_value(in + axes.offset(k), from);
    const int64_t group = groups.offset(k);
    DeviceValue moved;
    if (is_wide(from) || is_wide(to)) moved = value_of(move<double>(v, group), to);
    else moved = value_of(move<float>(v, group), to);
    store_value(moved, out + k * to_size);
  }

 private:
  template <class A>
  STOKER_HD A move(const DeviceValue& v, int64_t group) const {
    return pointwise<A>(number_of<A>(v), means[group], factors[group], shift);
  }
};

// Collects, item by item, what normalising a batch takes, and enqueues it.
class Normalizer {
 public:
  explicit Normalizer(GpuRun& r) : r_(r) {}

  // Groups go through all items, which have equal groups. To be called before the first add().
  template <class Arguments>
  void join_items(const Arguments& normalization) {
    is_joined_ = true;
    for (size_t i = 0; i < r_.items.size(); ++i) {
      const View& in = r_.items[i].inputs[0];
      if (in.shape.volume() == 0) continue;
      const Window which = normalization(i).groups(in.whole(), Window::all(in.full));
      all_ += in.shape.volume() / which.shape().volume();
      ++items_;
    }
  }

  void add(size_t i, const NormalizationArguments& g) {
    const View &in = r_.items[i].inputs[0], &out = r_.items[i].outputs[0];
    if (out.shape.volume() == 0) return;
    const auto reduced = g.reduced(in.whole());
    const Window which = g.groups(in.whole(), out.covers());
    const int64_t groups = which.shape().volume();
    const GroupNumbers n = numbers(g, which, out.shape.volume() / groups);
    if (!g.mean) sums_.push_back(task(in, reduced, nullptr, n.centres));
    if (!g.stddev) squares_.push_back(task(in, reduced, n.centres, n.squares));
    means_.push_back({n, groups});
    factors_.push_back({n, groups});
    const Strided from = Strided::of(in);
    elements_.push_back({from.data + from.offset, Axes(out.shape, from.stride),
                         Axes(out.shape, step_between(which, reduced)), n.means, n.factors, g.shift,
                         out.as<std::byte>(), in.dtype, out.dtype, size_of(out.dtype),
                         out.shape.volume()});
  }

  void run() {
    if (!sums_.empty()) sum_up<Sum>(r_, sums_), add_items(centres_);
    run_each(r_, std::span<const SetMeans>(means_));
    if (!squares_.empty()) sum_up<SquaredDistances>(r_, squares_), add_items(distances_);
    run_each(r_, std::span<const SetFactors>(factors_));
    run_each(r_, std::span<const NormalizeElement>(elements_));
  }

 private:
  // The numbers of the groups `which` of the next item, with so many elements each.
  GroupNumbers numbers(const NormalizationArguments& g, const Window& which, int64_t elements) {
    const int64_t groups = which.shape().volume(), first = std::ssize(means_) * groups;
    if (is_joined_ && !centres_)
      centres_ = room<double>(items_ * groups), distances_ = room<double>(items_ * groups);
    return {g.spread(),
            is_joined_ ? all_ : elements,
            is_joined_ ? centres_ + first : room<double>(groups),
            is_joined_ ? distances_ + first : room<double>(groups),
            room<float>(groups),
            room<float>(groups),
            put(g.mean, which),
            put(g.stddev, which)};
  }
  template <class T>
  T* room(int64_t n) {
    return reinterpret_cast<T*>(r_.scratch(static_cast<size_t>(n) * sizeof(T)));
  }
  const float* put(const std::optional<ShapedNumbers>& given, const Window& of) {
    return given ? r_.put(std::span<const float>(numbers_of(*given, of))) : nullptr;
  }
  static SumTask task(const View& in, const std::array<bool, kMaxRank>& reduced,
                      const double* centres, double* to) {
    return {in, reduced, centres, reinterpret_cast<std::byte*>(to), DType::kFloat64};
  }
  void add_items(double* to) {
    if (!to) return;
    const AddItems add{to, items_, means_[0].pieces};
    run_each(r_, std::span<const AddItems>(&add, 1));
  }

  GpuRun& r_;
  bool is_joined_ = false;
  int64_t all_ = 0, items_ = 0;  // elements of a group in all items; items with elements
  double *centres_ = nullptr, *distances_ = nullptr;  // of all items
  std::vector<SumTask> sums_, squares_;
  std::vector<SetMeans> means_;
  std::vector<SetFactors> factors_;
  std::vector<NormalizeElement> elements_;
};

// normalize() of kernels/statistics/normalize.h for a batch: normalization(i) gives the arguments
// of item i. With `whole_batch`, groups go through all items: these have equal groups, and either
// all or none of them a mean, and so for deviations.
template <class Arguments>
void normalize(GpuRun& r, Arguments normalization, bool whole_batch = false) {
  Normalizer normalizer(r);
  if (whole_batch) normalizer.join_items(normalization);
  for (size_t i = 0; i < r.items.size(); ++i) normalizer.add(i, normalization(i));
  normalizer.run();
}

}  // namespace stoker
