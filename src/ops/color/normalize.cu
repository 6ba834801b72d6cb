// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_normalize.cuh"
#include "op/type_of.h"

namespace stoker::ops::color {

struct Normalize : NormalizationArguments {
  DType dtype = DType::kFloat32;
  bool batch = false;

  static constexpr auto schema = describe(
      "normalize",
      "Subtracts the mean of each group of elements and divides by its standard deviation.\n\n"
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
    if (batch) require_one_numbers();
    if (c.in().shape.rank >= 0 && !c.is_computed("mean") && !c.is_computed("stddev"))
      reduced(c.in());
    c.out(result(c.in()));
  }
  void infer(Inference& i) const {
    reduced(i.inputs[0]);
    i.out(result(i.inputs[0]));
  }
  void demand(Demand& d) const { d.needed[0] = needed(d.inputs[0], d.wanted[0]); }

  void run_cpu(Run& r) const { normalize_on_cpu(*this, r.inputs[0], r.outputs[0], r.scratch); }
  static void infer_batch(BatchInference& b, std::span<const Normalize* const> ops) {
    Shape first;
    for (size_t i = 0; i < b.items.size(); ++i) {
      const TensorType& in = b.items[i].inputs[0];
      ops[i]->require_one_numbers();
      const Shape own = ops[i]->groups(in, Window::all(in.shape)).shape();
      if (i == 0) first = own;
      require(own == first, "sample ", i, " of the batch has the shape ", in.shape,
              ", and sample 0 ", b.items[0].inputs[0].shape,
              ": under batch=True, axes that are not reduced need one extent");
      b.items[i].outputs = {ops[i]->result(in)};
    }
  }
  static void run_batch(BatchRun& r, std::span<const Normalize* const> ops) {
    std::vector<NormalizedSample> all;
    for (size_t i = 0; i < ops.size(); ++i)
      all.push_back({*ops[i], r.items[i].inputs[0], r.items[i].outputs[0]});
    normalize_on_cpu(all, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Normalize* const> items) {
    stoker::normalize(
        r, [&](size_t i) -> const NormalizationArguments& { return *items[i]; }, items[0]->batch);
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
        {"batch=True, axes=[0], mean=3.0", {"uint8 HW [[1], [5]]"}, {"float32 [[-1], [1]]"}},
    };
  }
};

}  // namespace stoker::ops::color

STOKER_OPERATOR(stoker::ops::color::Normalize)
