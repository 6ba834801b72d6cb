// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/noise.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct NoiseSaltAndPepper {
  std::optional<float> pepper_val, salt_val;
  bool per_channel = false;
  float prob = 0.05f, salt_vs_pepper = 0.5f;

  struct Noise {
    double prob, salt_share, salt, pepper;
    // Draws 1 for salt, -1 for pepper, else 0.
    static constexpr int kDraws = 2, kValues = 1;
    STOKER_HD void operator()(const uint32_t* draws, float* value) const {
      const float kind = flip_of(draws[1], salt_share) ? 1.0f : -1.0f;
      *value = flip_of(draws[0], prob) ? kind : 0.0f;
    }
    STOKER_HD double of(double value, float drawn) const {
      return drawn > 0 ? salt : drawn < 0 ? pepper : value;
    }
  };

  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "noise.salt_and_pepper",
      "Replaces some of the pixels by a high or a low value.\n\n"
      "The channels of a pixel are replaced together, unless per_channel is set; without a layout, "
      "the last of three axes or more is that of channels. Values are rounded and saturate. The "
      "draws depend only on the pipeline's seed, the epoch and the sample.",
      kNoiseInputs, kNoiseOutputs,
      arg(&NoiseSaltAndPepper::pepper_val, "pepper_val",
          "The low value. Default: the least one of the dtype, or -1 for floats.", kPerSample),
      arg(&NoiseSaltAndPepper::per_channel, "per_channel",
          "Whether each channel has its own draw."),
      arg(&NoiseSaltAndPepper::prob, "prob", "The probability that a pixel is replaced.",
          between(0, 1), kPerSample),
      arg(&NoiseSaltAndPepper::salt_val, "salt_val",
          "The high value. Default: the greatest one of the dtype, or 1 for floats.", kPerSample),
      arg(&NoiseSaltAndPepper::salt_vs_pepper, "salt_vs_pepper",
          "The share of high values among those.", between(0, 1), kPerSample));

  Noise noise(DType t) const {
    const double most = full_intensity(t);
    const double least = info(t).is_float ? -1 : info(t).is_signed ? -most - 1 : 0;
    return {static_cast<double>(prob), static_cast<double>(salt_vs_pepper),
            salt_val ? static_cast<double>(*salt_val) : most,
            pepper_val ? static_cast<double>(*pepper_val) : least};
  }
  int shared_axis(const View& in) const {
    if (per_channel) return -1;
    if (in.layout.empty()) return in.full.rank > 2 ? in.full.rank - 1 : -1;
    return in.layout.find('C');
  }
  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }

  void run_cpu(Run& r) const { add_noise(r, noise(r.inputs[0].dtype), shared_axis(r.inputs[0])); }
  static void run_gpu(GpuRun& r, std::span<const NoiseSaltAndPepper* const> items) {
    add_noise(
        r, [&](size_t i) { return items[i]->noise(r.items[i].inputs[0].dtype); },
        [&](size_t i) { return items[i]->shared_axis(r.items[i].inputs[0]); });
  }

  static std::vector<Case> cases() {
    return {
        {"prob=0.0", {"uint8 HW [[1, 2]]"}, {"uint8 [[1, 2]]"}},
        {"prob=1.0, salt_vs_pepper=1.0", {"int16 [1, -2]"}, {"int16 [32767, 32767]"}},
        {"prob=1.0, salt_vs_pepper=0.0, pepper_val=0.5", {"float32 [3]"}, {"float32 [0.5]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::NoiseSaltAndPepper)
