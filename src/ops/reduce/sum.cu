// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "op/arguments/reduced_axes.h"
#include "op/loops/gpu_sum.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceSum : ReducedAxes {
  std::optional<DType> dtype;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "reductions.sum",
      "Adds up the values along axes.\n\n"
      "Whole numbers are added exactly, modulo 2^64, and floats in double precision, in an order "
      "that depends on nothing but the shape. A sum of no values is 0.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The sums."}), kReducedAxes,
      arg(&ReduceSum::dtype, "dtype",
          "Output dtype; default: INT64 for signed integers, UINT64 for unsigned ones, and for "
          "floats FLOAT, or FLOAT64 where the input is. Values are rounded and saturate."));

  TensorType result(const TensorType& in) const {
    const bool is_signed = info(in.dtype).is_signed;
    DType t = is_signed ? DType::kInt64 : DType::kUint64;
    if (info(in.dtype).is_float) t = DType::kFloat32;
    if (in.dtype == DType::kFloat64) t = in.dtype;
    return reduced_type(in, dtype.value_or(t));
  }
  void check(Checker& c) const { c.out(result(c.in())); }
  void infer(Inference& i) const { i.out(result(i.inputs[0])); }
  void demand(Demand& d) const { d.needed[0] = needed(d.inputs[0], d.wanted[0]); }

  void run_cpu(Run& r) const {
    const View& in = r.inputs[0];
    const TensorType whole = in.whole();
    sum(part_of(in, needed(whole, r.outputs[0].covers())), flags(whole).data(), r.outputs[0],
        r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const ReduceSum* const> items) {
    sum(r, [&](size_t i) {
      const View& in = r.items[i].inputs[0];
      return items[i]->flags(in.whole());
    });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[255, 2]], [[3, 4]]]"}, {"uint64 264"}},
        {"axes=[0, -1]", {"int8 [[[-128, 2]], [[3, 4]]]"}, {"int64 [-119]"}},
        {"axis_names=\"H\", keep_dims=True",
         {"float32 HW [[0.5, 2], [3, 4]]"},
         {"float32 [[3.5, 6]]"}},
        {"axes=[], dtype=types.UINT8", {"int16 [300, -3]"}, {"uint8 [255, 0]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceSum)
