// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/draws.h"
#include "op/resize/displaced.cuh"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Jitter {
  float fill_value = 0;
  int mask = 1, nDegree = 2;

  // A whole number of pixels from -most to most, each equally likely.
  struct Shift {
    int64_t most;
    STOKER_HD int64_t operator()(uint32_t draw) const {
      return static_cast<int64_t>(draw * static_cast<uint64_t>(2 * most + 1) >> 32) - most;
    }
  };
  struct Shaken {
    Shift shift;
    Chance chance;
    int64_t width;
    STOKER_HD Coordinates operator()(int64_t y, int64_t x) const {
      const auto k = static_cast<uint64_t>(2 * (y * width + x));
      return {static_cast<double>(y + shift(chance.bits(k))) + 0.5,
              static_cast<double>(x + shift(chance.bits(k + 1))) + 0.5};
    }
  };

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) { require_class_fill(c, "fill_value", {fill_value}); }

  static constexpr bool kRandom = true;
  static constexpr const char* kIgnored[] = {"interp_type"};
  static constexpr auto schema = describe(
      "jitter",
      "Lets each pixel show one nearby, drawn at random.\n\n"
      "It lies a whole number of pixels away along y and x, each from -nDegree / 2 to nDegree / 2 "
      "and equally likely. Accepts any dtype. The draws depend only on the pipeline's seed, the "
      "epoch and the sample, and are the same for all frames of a sequence.",
      kDisplacementInputs, kDisplacementOutputs,
      arg(&Jitter::fill_value, "fill_value", "Value outside the image."),
      arg(&Jitter::mask, "mask", "0 leaves the image as it is.", kPerSample),
      arg(&Jitter::nDegree, "nDegree", "The range of the distances in pixels.",
          between(0, 1 << 20)));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(with_places(i.inputs[0])); }

  Placing placing() const { return {stoker::Filter::kNearest, fill_value}; }
  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    if (mask == 0) return copy_window(in, out);
    const Shift shift{nDegree / 2};
    auto* d = r.scratch.array<uint32_t>(2 * static_cast<size_t>(out.shape[1]));
    const auto where = [&](int64_t y, int64_t x, int64_t n, double* ys, double* xs) {
      draw_words(r.chance, static_cast<uint64_t>(2 * (y * out.full[1] + x)), d, 2 * n);
      for (int64_t k = 0; k < n; ++k) {
        ys[k] = static_cast<double>(y + shift(d[2 * k])) + 0.5;
        xs[k] = static_cast<double>(x + k + shift(d[2 * k + 1])) + 0.5;
      }
    };
    displace(in, out, placing(), where, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Jitter* const> items) {
    DisplacementArguments::run(r, items, [&](size_t i) {
      const int64_t width = r.items[i].outputs[0].full[1];
      return Shaken{{items[i]->nDegree / 2}, r.items[i].chance, width};
    });
  }

  static std::vector<Case> cases() {
    return {
        {"nDegree=1", {"uint8 HWC [[[1], [2]], [[3], [4]]]"}, {"uint8 [[[1], [2]], [[3], [4]]]"}},
        {"mask=0", {"float32 HWC [[[1, 2]]]"}, {"float32 [[[1, 2]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Jitter)
