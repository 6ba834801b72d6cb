// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/op.h"

namespace stoker::ops::reduce {

struct ReduceMeanSquare : MeanArguments {
  static constexpr auto schema = describe(
      "reductions.mean_square",
      "Averages the squares of the values along axes.\n\n"
      "The mean is the sum of the squares divided by the number of values. It is computed in "
      "double precision, in an order that depends on nothing but the "
      "shape. Of no values it is NaN.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The means."}), kReducedAxes,
      arg(&DtypeArgument::dtype, "dtype",
          "Output dtype; default: FLOAT, or FLOAT64 where the input is. Values are rounded and "
          "saturate."));

  void run_cpu(Run& r) const { run(r, true, {.is_root = false}); }
  static void run_gpu(GpuRun& r, std::span<const ReduceMeanSquare* const> items) {
    moments(
        r, true, [&](size_t i) { return *items[i]; },
        [](size_t) { return Averaging{.is_root = false}; });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 [1, 2, 3, 4]"}, {"float32 7.5"}},
        {"axes=[0], keep_dims=True", {"float32 [[0.5, 2], [1.5, -3]]"}, {"float32 [[1.25, 6.5]]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceMeanSquare)
