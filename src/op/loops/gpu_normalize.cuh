// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// normalize() of kernels/statistics/normalize.h for a batch, for the .cu files of operators. As
// thread-safe as the GpuRun.
#pragma once
#include "kernels/fused_device/value.h"
#include "op/loops/gpu_sum.cuh"
#include "op/loops/normalization.h"

namespace stoker {

// What is known and computed of the groups of an item, one number each.
struct GroupNumbers {
  Spread spread;
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

// normalization(i) gives the arguments of item i. With `whole_batch`, groups go through all items:
// these have equal groups, and either all or none of them a mean, and so for deviations.
template <class Arguments>
void normalize(GpuRun& r, Arguments normalization, bool whole_batch = false) {
  std::vector<SumTask> sums, squares;
  std::vector<SetMeans> means;
  std::vector<SetFactors> factors;
  std::vector<NormalizeElement> elements;
  const auto numbers = [&](const std::optional<ShapedNumbers>& given, const Window& of) {
    return given ? r.put(std::span<const float>(numbers_of(*given, of))) : nullptr;
  };
  const auto room = [&]<class T>(T, int64_t n) {
    return reinterpret_cast<T*>(r.scratch(static_cast<size_t>(n) * sizeof(T)));
  };
  int64_t all = 0, items = 0;  // elements of a group in all items; items with elements
  for (size_t i = 0; whole_batch && i < r.items.size(); ++i) {
    const View& in = r.items[i].inputs[0];
    if (in.shape.volume() == 0) continue;
    const Window which = normalization(i).groups(in.whole(), Window::all(in.full));
    all += in.shape.volume() / which.shape().volume();
    ++items;
  }
  double *centres = nullptr, *distances = nullptr;  // of a whole batch
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
    if (out.shape.volume() == 0) continue;
    const Normalization& g = normalization(i);
    const auto reduced = g.reduced(in.whole());
    const Window which = g.groups(in.whole(), out.covers());
    const int64_t count = which.shape().volume(), item = static_cast<int64_t>(means.size());
    if (whole_batch && !centres)
      centres = room(double{}, items * count), distances = room(double{}, items * count);
    const GroupNumbers n{g.spread(),
                         whole_batch ? all : out.shape.volume() / count,
                         whole_batch ? centres + item * count : room(double{}, count),
                         whole_batch ? distances + item * count : room(double{}, count),
                         room(float{}, count),
                         room(float{}, count),
                         numbers(g.mean, which),
                         numbers(g.stddev, which)};
    if (!g.mean)
      sums.push_back(
          {in, reduced, nullptr, reinterpret_cast<std::byte*>(n.centres), DType::kFloat64});
    means.push_back({n, count});
    if (!g.stddev)
      squares.push_back(
          {in, reduced, n.centres, reinterpret_cast<std::byte*>(n.squares), DType::kFloat64});
    factors.push_back({n, count});
    const Strided from = Strided::of(in);
    elements.push_back({from.data + from.offset, Axes(out.shape, from.stride),
                        Axes(out.shape, step_between(which, reduced)), n.means, n.factors, g.shift,
                        out.as<std::byte>(), in.dtype, out.dtype, size_of(out.dtype),
                        out.shape.volume()});
  }
  const auto add_items = [&](double* to) {
    if (!whole_batch || !to) return;
    const AddItems add{to, items, means[0].pieces};
    run_each(r, std::span<const AddItems>(&add, 1));
  };
  if (!sums.empty()) sum_up<Sum>(r, sums), add_items(centres);
  run_each(r, std::span<const SetMeans>(means));
  if (!squares.empty()) sum_up<SquaredDistances>(r, squares), add_items(distances);
  run_each(r, std::span<const SetFactors>(factors));
  run_each(r, std::span<const NormalizeElement>(elements));
}

}  // namespace stoker
