// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators that reduce values to means, deviations or extremes share.
#pragma once
#include "kernels/elements/boxes.h"
#include "kernels/fused_device/value.h"
#include "kernels/statistics/moment.h"
#include "op/arguments/dtype_argument.h"
#include "op/arguments/reduced_axes.h"
#include "op/classes.h"
#include "op/loops/gpu_sum.cuh"
#include "op/rules.h"

namespace stoker {

inline View reduced_part(const ReducedAxes& axes, const View& in, const View& out) {
  return part_of(in, axes.needed(in.whole(), out.covers()));
}

// FLOAT64 for inputs of that type, else FLOAT.
inline DType mean_type(DType in) { return in == DType::kFloat64 ? in : DType::kFloat32; }

// For each element of `out` its number among `means`: one for all, or one for each.
inline double* centres_of(const View& means, const View& out, Arena& scratch) {
  const int64_t volume = out.shape.volume();
  auto* dense = scratch.array<std::byte>(static_cast<size_t>(means.bytes()));
  auto* part = scratch.array<std::byte>(static_cast<size_t>(volume * size_of(means.dtype)));
  auto* centres = scratch.array<double>(static_cast<size_t>(volume));
  copy_to_dense(means, dense);
  View all = View::dense(dense, means.dtype, out.full);
  if (means.full.volume() == 1) all.strides = Shape::filled(all.shape.rank, 0);
  copy_to_dense(part_of(all, out.covers()), part);
  convert_row(part, means.dtype, centres, DType::kFloat64, volume);
  return centres;
}

// On a device: one centre for each element of the output.
struct SetCentre {
  const std::byte* means;
  Axes axes;
  DType dtype;
  bool is_one;
  double* centres;
  int64_t pieces;
  STOKER_HD void run(int64_t k) const {
    const int64_t at = is_one ? 0 : axes.offset(k);
    centres[k] = number_of<double>(load_value(means + at, dtype));
  }
};
struct SetMoment {
  const double* sums;
  Averaging moment;
  int64_t count;
  std::byte* out;
  DType dtype;
  int size;
  int64_t pieces;
  STOKER_HD void run(int64_t k) const {
    store_value(value_of(moment.of(sums[k], count), dtype), out + k * size);
  }
};

// moments() of kernels/statistics/moment.h for a batch, with axes(i) and moment(i) for item i: of
// squared distances from the second input if there is one, else from 0 if `squares`, else of the
// values.
template <class MakeAxes, class MakeMoment>
void moments(GpuRun& r, bool squares, MakeAxes axes, MakeMoment moment) {
  std::vector<SetCentre> centres;
  std::vector<SumTask> tasks;
  std::vector<SetMoment> results;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
    const auto reduced = axes(i).flags(in.whole());
    const int64_t volume = out.shape.volume();
    const auto room = [&] {
      const auto bytes = static_cast<size_t>(std::max<int64_t>(volume, 1)) * sizeof(double);
      return reinterpret_cast<double*>(r.scratch(bytes));
    };
    double* sums = room();
    double* from = nullptr;
    if (squares) {
      from = room();
      const bool has_means = r.items[i].inputs.size() > 1;
      const double zero = 0;
      const View means = has_means ? r.items[i].inputs[1]
                                   : View::dense(const_cast<double*>(r.put(std::span(&zero, 1))),
                                                 DType::kFloat64, {});
      const Strided s = Strided::of(means);
      centres.push_back({s.data + s.offset, Axes(means.full, s.stride), means.dtype,
                         means.full.volume() == 1, from, volume});
    }
    tasks.push_back({in, reduced, from, reinterpret_cast<std::byte*>(sums), DType::kFloat64});
    int64_t count = 1;
    for (int a = 0; a < in.full.rank; ++a)
      if (reduced[static_cast<size_t>(a)]) count *= in.full[a];
    results.push_back(
        {sums, moment(i), count, out.as<std::byte>(), out.dtype, size_of(out.dtype), volume});
  }
  run_each(r, std::span<const SetCentre>(centres));
  if (squares) sum_up<SquaredDistances>(r, tasks);
  else sum_up<WideSum>(r, tasks);
  run_each(r, std::span<const SetMoment>(results));
}

struct MeanArguments : ReducedAxes, DtypeArgument {
  TensorType result(const TensorType& in) const {
    return reduced_type(in, dtype.value_or(mean_type(in.dtype)));
  }
};
inline constexpr auto kMeanInputs = ports({.name = "input", .help = "Any tensor."});
inline constexpr auto kMeanDtype =
    arg(&DtypeArgument::dtype, "dtype",
        "Output dtype; default: FLOAT, or FLOAT64 where the input is. Values are rounded and "
        "saturate.");

// All of one of these operators, Op: the mean of the values or of their squares, or its root.
template <class Op, bool kSquares, bool kIsRoot>
struct MeanOperator : MeanArguments {
  static constexpr Classes kClasses = Classes::kRead;

  void check(Checker& c) const { c.out(result(c.in())); }
  void infer(Inference& i) const { i.out(result(i.inputs[0])); }
  void demand(Demand& d) const { d.needed[0] = needed(d.inputs[0], d.wanted[0]); }

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    const auto volume = static_cast<size_t>(out.shape.volume());
    double* zeros = kSquares ? r.scratch.array<double>(volume) : nullptr;
    if (kSquares) std::fill_n(zeros, volume, 0.0);
    moments(reduced_part(*this, in, out), flags(in.whole()).data(), zeros, {.is_root = kIsRoot},
            out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Op* const> items) {
    moments(
        r, kSquares, [&](size_t i) { return *items[i]; },
        [](size_t) { return Averaging{.is_root = kIsRoot}; });
  }

 private:
  friend Op;
  MeanOperator() = default;
};

struct SpreadArguments : ReducedAxes {
  int ddof = 0;

  TensorType result(std::span<const TensorType> inputs) const {
    const TensorType t = reduced_type(inputs[0], mean_type(inputs[0].dtype));
    const Shape& means = inputs[1].shape;
    if (inputs[0].shape.rank < 0 || means.rank < 0) return t;
    ReducedAxes kept = *this;
    bool fits = means.rank == 0 || (means.rank == 1 && (means[0] == 1 || means[0] < 0));
    for (const bool keeps : {false, true}) {
      kept.keep_dims = keeps;
      const Shape own = kept.reduced_type(inputs[0], t.dtype).shape;
      bool is_like = own.rank == means.rank;
      for (int a = 0; is_like && a < own.rank; ++a)
        is_like = own[a] == means[a] || own[a] < 0 || means[a] < 0;
      fits = fits || is_like;
    }
    require(fits, "input 'mean' has the shape ", means, ", expected one number or ", t.shape);
    return t;
  }
};

template <class Op, bool kIsRoot>
struct SpreadOperator : SpreadArguments {
  static constexpr Classes kClasses = Classes::kRead;

  void check(Checker& c) const { c.out(result(c.inputs)); }
  void infer(Inference& i) const { i.out(result(i.inputs)); }
  void demand(Demand& d) const { d.needed[0] = needed(d.inputs[0], d.wanted[0]); }

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    const double* centres = centres_of(r.inputs[1], out, r.scratch);
    moments(reduced_part(*this, in, out), flags(in.whole()).data(), centres, {kIsRoot, ddof}, out,
            r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Op* const> items) {
    moments(
        r, true, [&](size_t i) { return *items[i]; },
        [&](size_t i) { return Averaging{kIsRoot, items[i]->ddof}; });
  }

 private:
  friend Op;
  SpreadOperator() = default;
};
inline constexpr auto kSpreadInputs =
    ports({.name = "input", .help = "Any tensor."},
          {.name = "mean", .help = "The means, as reductions.mean gives them, or one for all."});
inline constexpr auto kDdofArgument =
    arg(&SpreadArguments::ddof, "ddof",
        "Delta degrees of freedom: the divisor is the number of values less this.", at_least(0));

}  // namespace stoker
