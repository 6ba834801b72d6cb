// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/op.h"

namespace stoker::ops::reduce {

struct ReduceRms : MeanArguments {
  static constexpr auto schema = describe(
      "reductions.rms",
      "Gives the root of the mean square of the values along axes.\n\n"
      "The mean square is the sum of the squares divided by the number of values. It is computed "
      "in double precision, in an order that depends on nothing but the "
      "shape. Of no values it is NaN.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The roots."}), kReducedAxes,
      arg(&DtypeArgument::dtype, "dtype",
          "Output dtype; default: FLOAT, or FLOAT64 where the input is. Values are rounded and "
          "saturate."));

  void run_cpu(Run& r) const { run(r, true, {.is_root = true}); }
  static void run_gpu(GpuRun& r, std::span<const ReduceRms* const> items) {
    moments(
        r, true, [&](size_t i) { return *items[i]; },
        [](size_t) { return Averaging{.is_root = true}; });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"int16 [6, -8, 0, 0]"}, {"float32 5"}},
        {"axis_names=\"W\"", {"float32 HW [[0.5, 0.5], [3, -3]]"}, {"float32 [0.5, 3]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceRms)
