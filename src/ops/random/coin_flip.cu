// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/elements.h"
#include "op/loops/gpu_each.cuh"
#include "op/op.h"

namespace stoker::ops::random {

struct CoinFlip {
  struct Draw {
    Chance chance;
    float probability;

    STOKER_HD double operator()(int64_t k) {
      chance.seek(static_cast<uint64_t>(k));
      return chance.flip(probability) ? 1.0 : 0.0;
    }
  };

  float probability = 0.5f;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;

  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "random.coin_flip",
      "Draws 1 with a given probability, else 0.\n\n"
      "Gives a scalar, or a tensor of independent draws with the shape that an argument or an "
      "input gives. The draws depend only on the pipeline's seed, the epoch and the sample.",
      ports({.name = "shape_like", .help = "Only its shape is used.", .is_optional = true}),
      ports({.name = "output", .help = "0 or 1."}),
      arg(&CoinFlip::probability, "probability", "The probability of drawing 1.", between(0, 1),
          kPerSample),
      arg(&CoinFlip::shape, "shape", "Shape of the output; default: a scalar.", kPerSample),
      arg(&CoinFlip::dtype, "dtype", "Output dtype; default: INT32."));

  void check(Checker& c) const {
    c.out({dtype.value_or(DType::kInt32), {}, shape_asked(shape, c)});
  }

  void infer(Inference& i) const {
    i.out({dtype.value_or(DType::kInt32), {}, shape_asked(shape, i)});
  }

  void run_cpu(Run& r) const { set_elements(r.outputs[0], Draw{r.chance, probability}); }

  static void run_gpu(GpuRun& r, std::span<const CoinFlip* const> items) {
    set_elements(r, [&](size_t i) { return Draw{r.items[i].chance, items[i]->probability}; });
  }

  static std::vector<Case> cases() {
    return {
        {"probability=1.0", {}, {"int32 1"}},
        {"probability=0.0, shape=[2, 1], dtype=types.FLOAT", {}, {"float32 [[0.0], [0.0]]"}},
        {"probability=1.0, dtype=types.BOOL", {"uint8 [7, 8]"}, {"bool [True, True]"}},
    };
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::CoinFlip)
