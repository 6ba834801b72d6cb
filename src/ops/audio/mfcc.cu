// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"
#include "op/loops/gpu_mel.cuh"
#include "op/type_of.h"

namespace stoker::ops::audio {

struct Mfcc {
  int axis = 0, dct_type = 2, n_mfcc = 20;
  float lifter = 0;
  bool normalize = false;

  static constexpr auto schema = describe(
      "mfcc",
      "Mel-frequency cepstral coefficients: the cosine transform of spectra in decibels.\n\n"
      "The transform is along one axis, of which the first n_mfcc values stay, or all if there are "
      "fewer. Without normalize they are half of SciPy's.",
      ports({.name = "input", .help = "Mel spectra in decibels.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The coefficients, float32."}),
      arg(&Mfcc::axis, "axis", "The axis of frequencies.", between(0, kMaxRank - 1)),
      arg(&Mfcc::dct_type, "dct_type", "The kind of the cosine transform, 1 to 4.", between(1, 4)),
      arg(&Mfcc::lifter, "lifter",
          "L: coefficient i is scaled by 1 + L / 2 * sin(pi (i + 1) / L). 0: none is.",
          between(0, 1e6)),
      arg(&Mfcc::n_mfcc, "n_mfcc", "How many coefficients.", between(1, 1 << 14)),
      arg(&Mfcc::normalize, "normalize",
          "Whether the transform keeps lengths. Not for dct_type 1."));

  TensorType transformed(TensorType t) const {
    const int rank = t.shape.rank;
    if (rank < 0) return t;
    axis_numbered("axis", axis, rank);
    const int64_t bins = t.shape[axis];
    require(bins < 0 || bins >= (dct_type == 1 ? 2 : 1), "the axis ", axis, " has ", bins,
            " values, expected more");
    require(bins <= 1 << 14, "the axis ", axis, " has ", bins, " values, expected at most 16384");
    t.shape[axis] = bins < 0 ? -1 : std::min<int64_t>(n_mfcc, bins);
    return t;
  }
  void check(Checker& c) const {
    require(!normalize || dct_type != 1, "argument 'normalize' does not go with 'dct_type' 1");
    c.out(transformed(c.in()));
  }
  void infer(Inference& i) const { i.out(transformed(i.inputs[0])); }
  void demand(Demand& d) const {
    d.needed[0] = d.wanted[0];
    d.needed[0].begin[axis] = 0, d.needed[0].end[axis] = d.inputs[0].shape[axis];
  }

  MelFilters bank(int64_t bins) const {
    constexpr double kPi = 0x1.921fb54442d18p+1;
    const auto n = static_cast<double>(bins);
    std::vector<float> weights;
    for (int64_t i = 0; i < std::min<int64_t>(n_mfcc, bins); ++i) {
      const auto row = static_cast<double>(i);
      const double lift = lifter == 0
                              ? 1
                              : 1 + static_cast<double>(lifter) / 2 *
                                        exact::sin(kPi * (row + 1) / static_cast<double>(lifter));
      for (int64_t b = 0; b < bins; ++b) {
        const auto column = static_cast<double>(b);
        double w = 0;
        switch (dct_type) {
          case 1:
            w = (b == 0 || b == bins - 1 ? 0.5 : 1) * exact::cos(kPi * row * column / (n - 1));
            break;
          case 2: w = exact::cos(kPi * row * (column + 0.5) / n); break;
          case 3: w = (b == 0 ? 0.5 : 1) * exact::cos(kPi * (row + 0.5) * column / n); break;
          default: w = exact::cos(kPi * (row + 0.5) * (column + 0.5) / n);
        }
        if (normalize) {
          const bool is_first = dct_type == 2 ? i == 0 : dct_type == 3 && b == 0;
          w *=
              std::sqrt(2 / n) * (is_first ? (dct_type == 2 ? std::sqrt(0.5) : std::sqrt(2.0)) : 1);
        }
        weights.push_back(static_cast<float>(w * lift));
      }
    }
    return {std::move(weights), bins};
  }

  void run_cpu(Run& r) const {
    sum_by_filters(bank(r.inputs[0].full[axis]), r.inputs[0], r.outputs[0], axis);
  }
  static void run_gpu(GpuRun& r, std::span<const Mfcc* const> items) {
    sum_by_filters(
        r, [&](size_t i) { return items[i]->axis; },
        [&](int64_t bins) { return items[0]->bank(bins); });  // the same for all items
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 ft [[1, 2]]"}, {"float32 [[1, 2]]"}},
        {"dct_type=1", {"float32 [1, 2, 3]"}, {"float32 [4, -1, 0]"}},
        {"axis=1, n_mfcc=1, dct_type=2, lifter=2.0",
         {"float32 tf [[1, 2], [3, 5]]"},
         {"float32 [[6], [16]]"}},
    };
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::Mfcc)
