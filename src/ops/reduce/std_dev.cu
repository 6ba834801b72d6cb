// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceStdDev : SpreadOperator<ReduceStdDev, true> {
  static constexpr auto schema = describe(
      "reductions.std_dev",
      "Gives the standard deviation of the values along axes.\n\n"
      "The mean is given as a second input. It is computed in double precision, in an order that "
      "depends on nothing but the shape. Without more values than ddof it is infinite, or NaN.",
      kSpreadInputs, ports({.name = "output", .help = "The standard deviations."}), kReducedAxes,
      kDdofArgument);

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 [1, 5, 1, 5]", "float32 3"}, {"float32 2"}},
        {"axes=[1], keep_dims=True",
         {"float32 [[1, 2], [3, 6]]", "float32 [[1.5], [4.5]]"},
         {"float32 [[0.5], [1.5]]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceStdDev)
