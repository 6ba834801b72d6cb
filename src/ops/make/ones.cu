// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::make {

struct Ones : Filled<Ones, 1> {
  static constexpr auto schema =
      describe("ones", "Gives a tensor of ones.\n\nThe shape may differ from sample to sample.",
               ports(), ports({.name = "output", .help = "A tensor of ones."}), arguments());

  static std::vector<Case> cases() {
    return {
        {"shape=[2]", {}, {"int32 [1, 1]"}},
        {"dtype=types.FLOAT", {}, {"float32 1.0"}},
        {"shape=[1, 2], dtype=types.BOOL", {}, {"bool [[True, True]]"}},
    };
  }
};

}  // namespace stoker::ops::make

STOKER_OPERATOR(stoker::ops::make::Ones)
