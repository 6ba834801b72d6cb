// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/moments.cuh"
#include "op/type_of.h"

namespace stoker::ops::reduce {

struct ReduceRms : MeanOperator<ReduceRms, true, true> {
  static constexpr auto schema = describe(
      "reductions.rms",
      "Gives the root of the mean square of the values along axes.\n\n"
      "The mean square is the sum of the squares divided by the number of values. It is computed "
      "in double precision, in an order that depends on nothing but the "
      "shape. Of no values it is NaN.",
      kMeanInputs, ports({.name = "output", .help = "The roots."}), kReducedAxes, kMeanDtype);

  static std::vector<Case> cases() {
    return {
        {"", {"int16 [6, -8, 0, 0]"}, {"float32 5"}},
        {"axis_names=\"W\"", {"float32 HW [[0.5, 0.5], [3, -3]]"}, {"float32 [0.5, 3]"}},
    };
  }
};

}  // namespace stoker::ops::reduce

STOKER_OPERATOR(stoker::ops::reduce::ReduceRms)
