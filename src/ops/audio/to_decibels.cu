// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"
#include "kernels/elements/map.h"
#include "kernels/statistics/sum.h"
#include "op/loops/gpu_sum.cuh"
#include "op/op.h"

namespace stoker::ops::audio {

struct ToDecibels {
  float cutoff_db = -200, multiplier = 10, reference = 0;

  struct Decibels {
    double multiplier, cutoff, full;
    STOKER_HD float operator()(float v) const {
      using exact::detail::Num;
      if (v != v) return v;
      const double ratio = (Num(static_cast<double>(v)) / Num(full)).v;
      const bool is_normal = ratio > 0 && ratio < exact::detail::infinity();
      constexpr double kPerBase = 0x1.bcb7b1526e50ep-2;  // 1 / ln 10
      double db =
          (Num(exact::log_of_normal(is_normal ? ratio : 1.0)) * Num(kPerBase) * Num(multiplier)).v;
      if (!is_normal) db = ratio > 0 ? ratio : cutoff;
      return static_cast<float>(db > cutoff ? db : cutoff);
    }
  };

  struct DecibelsOnDevice {
    Decibels of;
    const float* reference;
    STOKER_HD float operator()(float v) const {
      Decibels own = of;
      own.full = full(*reference);
      return own(v);
    }
  };
  // NaN is not the greatest.
  struct Number {
    STOKER_HD float operator()(float v) const {
      constexpr float kNone = Greatest<float>::kNone;
      return v == v ? v : kNone;
    }
  };
  struct GreatestNumber : Greatest<float> {
    STOKER_HD static float load(float v, double) { return Number()(v); }
  };
  // No value above 0 counts as 1.
  STOKER_HD static double full(float reference) {
    return reference > 0 ? static_cast<double>(reference) : 1.0;
  }

  static constexpr auto schema = describe(
      "to_decibels",
      "Gives values as decibels: multiplier * log10(value / reference).\n\n"
      "What would be below cutoff_db, such as 0, gives that; NaN stays NaN.",
      ports({.name = "input", .help = "Magnitudes or powers.", .dtypes = "float32"}),
      ports({.name = "output", .help = "Decibels, float32."}),
      arg(&ToDecibels::cutoff_db, "cutoff_db", "The least number of decibels."),
      arg(&ToDecibels::multiplier, "multiplier", "10 for powers, 20 for magnitudes.",
          between(1e-6, 1e6)),
      arg(&ToDecibels::reference, "reference",
          "The value of 0 dB; 0 stands for the greatest number of the sample.", at_least(0)));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const {
    if (reference > 0) d.needed[0] = d.wanted[0];
  }

  Decibels decibels(float greatest) const {
    return {static_cast<double>(multiplier), static_cast<double>(cutoff_db), full(greatest)};
  }
  static constexpr std::array<bool, kMaxRank> kAll = {true, true, true, true, true, true};

  void run_cpu(Run& r) const {
    float greatest = reference;
    const View& in = r.inputs[0];
    const View found = View::dense(&greatest, DType::kFloat32, {});
    if (greatest == 0) extremes(in, kAll.data(), true, found, r.scratch);
    if (greatest != greatest) {
      View numbers = View::window(nullptr, DType::kFloat32, in.covers(), in.full);
      numbers.data = r.scratch.array<float>(static_cast<size_t>(in.shape.volume()));
      map<float, float>(numbers, Number(), in);
      extremes(numbers, kAll.data(), true, found, r.scratch);
    }
    map<float, float>(r.outputs[0], decibels(greatest), in);
  }
  static void run_gpu(GpuRun& r, std::span<const ToDecibels* const> items) {
    const ToDecibels& op = *items[0];  // the same for all items
    std::vector<float> given(items.size(), op.reference);
    const float* references = r.put(std::span<const float>(given));
    if (op.reference == 0) {
      auto* found = reinterpret_cast<float*>(r.scratch(items.size() * sizeof(float)));
      std::vector<SumTask> tasks;
      for (size_t i = 0; i < items.size(); ++i)
        tasks.push_back({r.items[i].inputs[0], kAll, nullptr,
                         reinterpret_cast<std::byte*>(found + i), DType::kFloat32});
      sum_as<GreatestNumber>(r, tasks);
      references = found;
    }
    map<float, float>(
        r, [&](size_t i) { return DecibelsOnDevice{items[i]->decibels(1), references + i}; });
  }

  static std::vector<Case> cases() {
    return {
        {"reference=1.0", {"float32 [1, 0]"}, {"float32 [0, -200]"}},
        {"", {"float32 [nan, 100, 1]"}, {"float32 [nan, 0, -20]"}},
        {"cutoff_db=-5.0", {"float32 [[1, 4], [0.5, 4]]"}, {"float32 [[-5, 0], [-5, 0]]"}},
        {"multiplier=20.0", {"float32 HW [[0, 0]]"}, {"float32 [[-200, -200]]"}},
    };
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::ToDecibels)
