// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/chance/poisson.h"
#include "op/loops/noise.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct NoiseShot {
  float factor = 20;

  // A number of its own stands for all draws of an element, as the value has to be known to draw.
  struct Shot {
    double factor;
    Chance chance;
    STOKER_HD double operator()(double v, int64_t number) const {
      if (!(v > 0) || factor == 0) return 0;
      return detail::mul_once(poisson_of(chance, number, v / factor), factor);
    }
  };

  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "noise.shot",
      "Makes the noise of a sensor that counts photons.\n\n"
      "A value v becomes factor times a number from the Poisson distribution of mean v / factor; "
      "what is not above 0 becomes 0, and so does all if the factor is 0. Each element has draws "
      "of its own. Values are rounded and saturate. The draws depend only on the pipeline's seed, "
      "the epoch and the sample.",
      kNoiseInputs, kNoiseOutputs,
      arg(&NoiseShot::factor, "factor", "How strong the noise is.", at_least(0), kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }

  void run_cpu(Run& r) const { change_elements(r, Shot{factor, r.chance}); }
  static void run_gpu(GpuRun& r, std::span<const NoiseShot* const> items) {
    const auto shot = [&](size_t i) { return Shot{items[i]->factor, r.items[i].chance}; };
    change_elements(r, shot, [](size_t) { return -1; });
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 HW [[0, -2]]"}, {"float32 [[0, 0]]"}},
        {"factor=0.0", {"uint8 [7]"}, {"uint8 [0]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::NoiseShot)
