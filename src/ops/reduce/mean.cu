// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceMean : MeanOperator<ReduceMean, false, false> {
  static constexpr auto schema = describe(
      "reductions.mean",
      "Averages the values along axes.\n\n"
      "The mean is the sum divided by the number of values. It is computed in double precision, in "
      "an order that depends on nothing but the "
      "shape. Of no values it is NaN.",
      kMeanInputs, ports({.name = "output", .help = "The means."}), kReducedAxes, kMeanDtype);

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
