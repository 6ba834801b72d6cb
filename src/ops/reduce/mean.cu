// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/op.h"

namespace stoker::ops::reduce {

struct ReduceMean : MeanArguments {
  static constexpr auto schema = describe(
      "reductions.mean",
      "Averages the values along axes.\n\n"
      "The mean is the sum divided by the number of values. It is computed in double precision, in "
      "an order that depends on nothing but the "
      "shape. Of no values it is NaN.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The means."}), kReducedAxes,
      arg(&DtypeArgument::dtype, "dtype",
          "Output dtype; default: FLOAT, or FLOAT64 where the input is. Values are rounded and "
          "saturate."));

  void run_cpu(Run& r) const { run(r, false, {.is_root = false}); }
  static void run_gpu(GpuRun& r, std::span<const ReduceMean* const> items) {
    moments(
        r, false, [&](size_t i) { return *items[i]; },
        [](size_t) { return Averaging{.is_root = false}; });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[255, 2]], [[3, 4]]]"}, {"float32 66"}},
        {"axes=[0, -1]", {"int8 [[[-128, 2]], [[3, 5]]]"}, {"float32 [-29.5]"}},
        {"axis_names=\"H\", keep_dims=True, dtype=types.UINT8",
         {"float32 HW [[0.5, 2], [3.5, 3]]"},
         {"uint8 [[2, 3]]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceMean)
