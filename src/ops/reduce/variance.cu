// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceVariance : SpreadOperator<ReduceVariance, false> {
  static constexpr auto schema = describe(
      "reductions.variance",
      "Gives the mean squared distance of the values along axes from their mean.\n\n"
      "The mean is given as a second input. It is computed in double precision, in an order that "
      "depends on nothing but the shape. Without more values than ddof it is infinite, or NaN.",
      kSpreadInputs, ports({.name = "output", .help = "The variances."}), kReducedAxes,
      kDdofArgument);

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 [1, 2, 3, 6]", "float32 3"}, {"float32 3.5"}},
        {"axes=[0], ddof=1",
         {"float32 [[1, 2], [3, 5]]", "float32 [2, 3.5]"},
         {"float32 [2, 4.5]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceVariance)
