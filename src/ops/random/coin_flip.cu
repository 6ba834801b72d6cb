// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/fill.h"
#include "op/arguments/shape_argument.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::random {

struct CoinFlip {
  struct Draw {
    static constexpr int kDraws = 1, kValues = 1;
    float probability;

    STOKER_HD void operator()(const uint32_t* draw, float* value) const {
      *value = flip_of(*draw, probability) ? 1 : 0;
    }
  };

  float probability = 0.5f;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;

  static constexpr Classes kClasses = Classes::kRead;
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

  std::optional<bool> truth() const {
    return probability == 0 || probability == 1 ? std::optional(probability == 1) : std::nullopt;
  }

  void run_cpu(Run& r) const { fill_draws<float>(r.outputs[0], r.chance, Draw{probability}); }

  static void run_gpu(GpuRun& r, std::span<const CoinFlip* const> items) {
    fill_draws<float>(r, [&](size_t i) { return Draw{items[i]->probability}; });
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
