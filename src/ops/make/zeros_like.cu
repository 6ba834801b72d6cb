// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::read {

struct ZerosLike : FilledLike<0> {
  static constexpr auto schema =
      describe("zeros_like",
               "Gives zeros in the shape and layout of a tensor.\n\nThe values of that tensor do "
               "not matter, "
               "so what makes only them does no work.",
               ports({.name = "data", .help = "Any tensor."}),
               ports({.name = "output", .help = "A tensor of zeros."}), arguments());

  static void run_gpu(GpuRun& r, std::span<const ZerosLike* const> items) {
    FilledLike<0>::run_gpu(r, items);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[3, 4]]"}, {"uint8 [[0, 0]]"}},
        {"dtype=types.FLOAT16", {"int32 5"}, {"float16 0.0"}},
    };
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::ZerosLike)
