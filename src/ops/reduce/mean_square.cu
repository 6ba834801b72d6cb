// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceMeanSquare : MeanOperator<ReduceMeanSquare, true, false> {
  static constexpr auto schema = describe(
      "reductions.mean_square",
      "Averages the squares of the values along axes.\n\n"
      "The mean is the sum of the squares divided by the number of values. It is computed in "
      "double precision, in an order that depends on nothing but the "
      "shape. Of no values it is NaN.",
      kMeanInputs, ports({.name = "output", .help = "The means."}), kReducedAxes, kMeanDtype);

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 [1, 2, 3, 4]"}, {"float32 7.5"}},
        {"axes=[0], keep_dims=True", {"float32 [[0.5, 2], [1.5, -3]]"}, {"float32 [[1.25, 6.5]]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceMeanSquare)
