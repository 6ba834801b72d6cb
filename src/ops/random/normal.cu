// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/fill.h"
#include "op/arguments/shape_argument.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::random {

struct Normal {
  struct Draw {
    static constexpr int kDraws = 2, kValues = 2;
    float mean, stddev;

    STOKER_HD void operator()(const uint32_t* draws, float* values) const {
      using exact::Num;
      const NormalPair pair = normal_of(draws[0], draws[1]);
      values[0] = static_cast<float>((Num(mean) + Num(stddev) * Num(pair.first)).v);
      values[1] = static_cast<float>((Num(mean) + Num(stddev) * Num(pair.second)).v);
    }
  };

  float mean = 0, stddev = 1;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "random.normal",
      "Draws from a normal distribution.\n\n"
      "Gives a scalar, or a tensor of independent draws with the shape that an argument or an "
      "input gives. No draw is more than 6.8 standard deviations away from the mean. The draws "
      "depend only on the pipeline's seed, the epoch and the sample.",
      ports({.name = "shape_like", .help = "Only its shape is used.", .is_optional = true}),
      ports({.name = "output", .help = "The draws."}),
      arg(&Normal::mean, "mean", "Mean of the distribution.", kPerSample),
      arg(&Normal::stddev, "stddev", "Standard deviation of the distribution.", at_least(0),
          kPerSample),
      arg(&Normal::shape, "shape", "Shape of the output; default: a scalar.", kPerSample),
      arg(&Normal::dtype, "dtype",
          "Output dtype; default: FLOAT. Values are rounded and saturate."));

  void check(Checker& c) const {
    c.out({dtype.value_or(DType::kFloat32), {}, shape_asked(shape, c)});
  }

  void infer(Inference& i) const {
    i.out({dtype.value_or(DType::kFloat32), {}, shape_asked(shape, i)});
  }

  void run_cpu(Run& r) const { fill_draws<float>(r.outputs[0], r.chance, Draw{mean, stddev}); }

  static void run_gpu(GpuRun& r, std::span<const Normal* const> items) {
    fill_draws<float>(r, [&](size_t i) { return Draw{items[i]->mean, items[i]->stddev}; });
  }

  static std::vector<Case> cases() {
    return {
        {"mean=2.5, stddev=0.0", {}, {"float32 2.5"}},
        {"mean=300.0, stddev=0.0, shape=[2], dtype=types.UINT8", {}, {"uint8 [255, 255]"}},
        {"mean=-0.5, stddev=0.0", {"uint8 HW [[1, 2]]"}, {"float32 [[-0.5, -0.5]]"}},
    };
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::Normal)
