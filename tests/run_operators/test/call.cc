// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For the tests of src/run: an operator whose outputs a function of the user's makes.
#include "op/type_of.h"

namespace stoker::ops::test {

struct Call {
  DType dtype = DType::kInt32;
  int ndim = 0, num_outputs = 1;

  static constexpr bool kUserCode = true;
  static constexpr auto schema = describe(
      "test.call", "Calls a function.", ports({.name = "inputs", .help = "Any.", .repeats = true}),
      ports({.name = "output", .help = "What it returns.", .for_each = "num_outputs"}),
      arg(&Call::dtype, "dtype", "Of all outputs."),
      arg(&Call::ndim, "ndim", "Of all outputs.", between(0, kMaxRank)),
      arg(&Call::num_outputs, "num_outputs", "How many there are.", between(1, 9)));

  void check(Checker& c) const {
    for (int k = 0; k < num_outputs; ++k) c.out({dtype, {}, Shape::filled(ndim, -1)});
  }
};

}  // namespace stoker::ops::test

STOKER_OPERATOR(stoker::ops::test::Call)
