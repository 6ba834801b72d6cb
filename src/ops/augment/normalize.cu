// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "kernels/statistics/sum.h"
#include "op/loops/gpu_normalize.cuh"
#include "op/op.h"

namespace stoker::ops::augment {

struct Normalize : Normalization {
  DType dtype = DType::kFloat32;
  bool batch = false;

  static constexpr auto schema = describe(
      "normalize",
      "Takes the mean from a tensor and divides it by the standard deviation, group by group.\n\n"
      "Elements whose positions differ only along the reduced axes are a group. A result is "
      "scale (input - mean) / stddev + shift. What is not given is computed from the group, in "
      "double precision and in an order that depends on nothing but the shape: the mean, and the "
      "deviation about the mean, be that given or not. A group without deviation becomes shift.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The normalised input."}), kNormalization,
      arg(&Normalize::dtype, "dtype", "Output dtype. Values are rounded and saturate."),
      arg(&Normalize::batch, "batch",
          "Whether the groups go through the whole batch. Only False is accepted."));

  TensorType result(TensorType t) const {
    t.dtype = dtype;
    return t;
  }
  void check(Checker& c) const {
    require(!batch, "argument 'batch' is True, but groups within a sample are all that there is");
    if (c.in().shape.rank >= 0 && !c.is_computed("mean") && !c.is_computed("stddev"))
      reduced(c.in());
    c.out(result(c.in()));
  }
  void infer(Inference& i) const {
    reduced(i.inputs[0]);
    i.out(result(i.inputs[0]));
  }
  void demand(Demand& d) const { d.needed[0] = needed(d.inputs[0], d.wanted[0]); }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    if (out.shape.volume() == 0) return;
    const TensorType whole = r.inputs[0].whole();
    const auto flags = reduced(whole);
    const Window which = groups(whole, out.covers());
    const View in = part_of(r.inputs[0], needed(whole, out.covers()));
    const int64_t n = which.shape().volume(), count = in.shape.volume() / n;
    std::vector<double> centres(static_cast<size_t>(n)), squares(centres);
    const View sums = View::dense(centres.data(), DType::kFloat64, Shape{n});
    std::vector<float> means, factors;
    if (mean) means = numbers_of(*mean, which), centres.assign(means.begin(), means.end());
    else {
      sum(in, flags.data(), sums, r.scratch);
      for (double& c : centres) means.push_back(static_cast<float>(c = mean_of(c, count)));
    }
    if (stddev)
      for (float s : numbers_of(*stddev, which)) factors.push_back(spread().given(s));
    else {
      const View all = View::dense(squares.data(), DType::kFloat64, Shape{n});
      sum_squared_distances(in, flags.data(), centres.data(), all, r.scratch);
      for (double s : squares) factors.push_back(spread().computed(s, count));
    }
    stoker::normalize(part_of(in, out.covers()), means.data(), factors.data(),
                      step_between(which, flags), shift, out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Normalize* const> items) {
    stoker::normalize(r, [&](size_t i) -> const Normalization& { return *items[i]; });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[4, 8], [8, 4]]"}, {"float32 [[-1, 1], [1, -1]]"}},
        {"axes=[1], ddof=1, scale=2.0, shift=1.0",
         {"int16 [[0, 3, 6], [5, 5, 5]]"},
         {"float32 [[-1, 1, 3], [1, 1, 1]]"}},
        {"axis_names=\"HW\", mean=10.0, dtype=types.INT8, scale=4.0",
         {"float32 HWC [[[14, 0], [6, 20]]]"},
         {"int8 [[[4, -4], [-4, 4]]]"}},
        {"stddev=0.0, epsilon=4.0", {"float32 [1, 2, 6]"}, {"float32 [-1, -0.5, 1.5]"}},
    };
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Normalize)
