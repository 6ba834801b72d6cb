// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/noise.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct NoiseGaussian {
  float mean = 0, stddev = 1;

  struct Noise {
    double mean, stddev;
    static constexpr int kDraws = 2, kValues = 2;
    STOKER_HD void operator()(const uint32_t* draws, float* values) const {
      const NormalPair n = normal_of(draws[0], draws[1]);
      values[0] = static_cast<float>(n.first);
      values[1] = static_cast<float>(n.second);
    }
    STOKER_HD double of(double value, float drawn) const {
      const double noise = detail::mul_once(stddev, static_cast<double>(drawn));
      return detail::add_once(value, detail::add_once(mean, noise));
    }
  };

  static constexpr bool kRandom = true;
  static constexpr auto kDrawsAs = "random.normal";
  static constexpr auto schema = describe(
      "noise.gaussian",
      "Adds numbers from a normal distribution.\n\n"
      "Each element has a draw of its own. The sum is rounded and saturates. The draws depend only "
      "on the pipeline's seed, the epoch and the sample.",
      kNoiseInputs, kNoiseOutputs,
      arg(&NoiseGaussian::mean, "mean", "Mean of the distribution.", kPerSample),
      arg(&NoiseGaussian::stddev, "stddev", "Standard deviation of the distribution.", at_least(0),
          kPerSample));

  Noise noise() const { return {static_cast<double>(mean), static_cast<double>(stddev)}; }
  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }

  void run_cpu(Run& r) const { add_noise(r, noise(), -1); }
  static void run_gpu(GpuRun& r, std::span<const NoiseGaussian* const> items) {
    add_noise(r, [&](size_t i) { return items[i]->noise(); }, [](size_t) { return -1; });
  }

  static std::vector<Case> cases() {
    return {
        {"stddev=0.0", {"uint8 HW [[1, 2]]"}, {"uint8 [[1, 2]]"}},
        {"mean=1.5, stddev=0.0", {"float32 [1, -2]"}, {"float32 [2.5, -0.5]"}},
        {"mean=300.0, stddev=0.0", {"uint8 [0, 9]"}, {"uint8 [255, 255]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::NoiseGaussian)
