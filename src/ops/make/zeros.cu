// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::make {

struct Zeros : Filled<Zeros, 0> {
  static constexpr auto schema =
      describe("zeros", "Gives a tensor of zeros.\n\nThe shape may differ from sample to sample.",
               ports(), ports({.name = "output", .help = "A tensor of zeros."}), arguments());

  static std::vector<Case> cases() {
    return {
        {"shape=[2]", {}, {"int32 [0, 0]"}},
        {"dtype=types.FLOAT", {}, {"float32 0.0"}},
        {"shape=[1, 2], dtype=types.BOOL", {}, {"bool [[False, False]]"}},
    };
  }
};

}  // namespace stoker::ops::make

STOKER_OPERATOR(stoker::ops::make::Zeros)
