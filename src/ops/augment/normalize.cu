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
      "deviation about the mean, be that given or not. A group without deviation becomes shift.\n\n"
      "With batch=True, groups go through all samples of the batch: these may differ in their "
      "extents along reduced axes alone, and given means and deviations are one number each.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The normalised input."}), kNormalization,
      arg(&Normalize::dtype, "dtype", "Output dtype. Values are rounded and saturate."),
      arg(&Normalize::batch, "batch", "Whether the groups go through the whole batch."));

  bool sees_batch() const { return batch; }

  TensorType result(TensorType t) const {
    t.dtype = dtype;
    return t;
  }
  void check(Checker& c) const {
    require_one_number("mean", mean), require_one_number("stddev", stddev);
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
  static void infer_batch(BatchInference& b, std::span<const Normalize* const> ops) {
    Shape first;
    for (size_t i = 0; i < b.items.size(); ++i) {
      const TensorType& in = b.items[i].inputs[0];
      ops[i]->require_one_number("mean", ops[i]->mean);
      ops[i]->require_one_number("stddev", ops[i]->stddev);
      const Shape own = ops[i]->groups(in, Window::all(in.shape)).shape();
      if (i == 0) first = own;
      require(own == first, "sample ", i, " of the batch has the shape ", in.shape,
              ", and sample 0 ", b.items[0].inputs[0].shape,
              ": under batch=True, axes that are not reduced need one extent");
      b.items[i].outputs = {ops[i]->result(in)};
    }
  }
  static void run_batch(BatchRun& r, std::span<const Normalize* const> ops) {
    const TensorType type = r.items[0].inputs[0].whole();
    const Window which = ops[0]->groups(type, Window::all(type.shape));
    const int64_t n = which.shape().volume();
    if (n == 0) return;
    int64_t count = 0;
    for (const BatchItem& item : r.items) count += item.inputs[0].shape.volume() / n;
    // Adds what `of_sample` puts into its view for each sample.
    std::vector<double> part(static_cast<size_t>(n));
    const View to = View::dense(part.data(), DType::kFloat64, Shape{n});
    const auto add_up = [&](const auto& of_sample) {
      std::vector<double> all(part.size());
      for (size_t i = 0; i < r.items.size(); ++i) {
        of_sample(i, r.items[i].inputs[0], ops[i]->reduced(type).data());
        for (size_t k = 0; k < all.size(); ++k) all[k] += part[k];
      }
      return all;
    };
    std::vector<double> sums;
    if (!ops[0]->mean)
      sums =
          add_up([&](size_t, const View& in, const bool* flags) { sum(in, flags, to, r.scratch); });
    // The centres of a sample's groups, which differ between samples where they were given.
    const auto centres = [&](size_t i) {
      std::vector<double> all(part.size());
      for (size_t k = 0; k < all.size(); ++k)
        all[k] =
            ops[i]->mean ? static_cast<double>(ops[i]->mean->values[0]) : mean_of(sums[k], count);
      return all;
    };
    std::vector<double> squares(part.size());
    if (!ops[0]->stddev)
      squares = add_up([&](size_t i, const View& in, const bool* flags) {
        sum_squared_distances(in, flags, centres(i).data(), to, r.scratch);
      });
    for (size_t i = 0; i < r.items.size(); ++i) {
      const Normalize& op = *ops[i];
      const View& out = r.items[i].outputs[0];
      if (out.shape.volume() == 0) continue;
      std::vector<float> means, factors;
      for (const double c : centres(i)) means.push_back(static_cast<float>(c));
      for (const double s : squares)
        factors.push_back(op.stddev ? op.spread().given(op.stddev->values[0])
                                    : op.spread().computed(s, count));
      stoker::normalize(r.items[i].inputs[0], means.data(), factors.data(),
                        step_between(which, op.reduced(type)), op.shift, out, r.scratch);
    }
  }
  static void run_gpu(GpuRun& r, std::span<const Normalize* const> items) {
    stoker::normalize(
        r, [&](size_t i) -> const Normalization& { return *items[i]; }, items[0]->batch);
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
        {"batch=True, axes=[0], mean=3.0",
         {"uint8 HW [[1, 3], [5, 3]]"},
         {"float32 [[-1, 0], [1, 0]]"}},
    };
  }

 private:
  void require_one_number(const char* name, const std::optional<ShapedNumbers>& given) const {
    require(!batch || !given || given->values.size() == 1, "argument '", name, "' has ",
            given ? given->values.size() : 0, " values, expected one number under batch=True");
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Normalize)
