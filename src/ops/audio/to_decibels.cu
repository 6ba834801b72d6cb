// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"
#include "kernels/elements/map.h"
#include "kernels/statistics/sum.h"
#include "op/loops/gpu_sum.cuh"
#include "op/type_of.h"

namespace stoker::ops::audio {

struct ToDecibels {
  float cutoff_db = -200, multiplier = 10;
  std::optional<float> reference;

  // Of a reference above 0, split into 2^exponent and a factor in [1, 2), so that no quotient
  // overflows. Everything but the sum of the logarithms is float32, for speed.
  struct Decibels {
    double per_log;  // decibels for a natural logarithm of 1
    float cutoff;
    float factor = 1;
    int exponent = 0;
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();

    STOKER_HD static float chosen(bool first, float a, float b) {
      const uint32_t mask = first ? ~uint32_t{0} : 0;
      return __builtin_bit_cast(float, (__builtin_bit_cast(uint32_t, a) & mask) |
                                           (__builtin_bit_cast(uint32_t, b) & ~mask));
    }
    STOKER_HD void set_reference(float full) {
      const bool is_small = full < 0x1p-126f;
      const auto bits = __builtin_bit_cast(uint32_t, is_small ? full * 0x1p24f : full);
      exponent = static_cast<int>(bits >> 23) - 127 - (is_small ? 24 : 0);
      factor = __builtin_bit_cast(float, (bits & 0x7fffff) | 0x3f800000);
      if (full == kInfinity) factor = full;  // so that no quotient is above 0
    }
    STOKER_HD float operator()(float v) const {
      using namespace detail;
      constexpr float kMost = 0x1.fffffep127f;
      const float ratio = div_once(v, factor);
      const bool is_number = (ratio > 0) & (ratio <= kMost);
      const float some = chosen(is_number, ratio, 1);
      const bool is_small = some < 0x1p-126f;
      // some = 2^e m, m in [sqrt(1/2), sqrt(2)): adding the distance from sqrt(1/2) to 1 carries
      // into e.
      constexpr uint32_t kOne = 0x3f800000, kSqrtHalf = 0x3f3504f3;
      const float normal = chosen(is_small, mul_once(some, 0x1p24f), some);
      const uint32_t shifted = __builtin_bit_cast(uint32_t, normal) + (kOne - kSqrtHalf);
      const int e = static_cast<int>(shifted >> 23) - 127 - (is_small ? 24 : 0) - exponent;
      const float m = __builtin_bit_cast(float, (shifted & 0x7fffff) + kSqrtHalf);
      // log(1 + f) = f - f^2 / 2 + f^3 P(f), within 1e-7 of itself.
      constexpr float c[] = {0x1.555554p-2f,  -0x1.fffff2p-3f, 0x1.999d5p-3f,
                             -0x1.555ed8p-3f, 0x1.23d6b6p-3f,  -0x1.fc5b4cp-4f,
                             0x1.dda7cep-4f,  -0x1.d9f4d6p-4f, 0x1.24da9ap-4f};
      const float f = m - 1, z = mul_once(f, f);
      float p = c[8];
      for (int i = 7; i >= 0; --i) p = add_once(mul_once(p, f), c[i]);
      const float rest = add_once(mul_once(0.5f, z), -mul_once(mul_once(z, f), p));
      const double log = add_once(mul_once(static_cast<double>(e), 0x1.62e42fefa39efp-1),
                                  static_cast<double>(add_once(f, -rest)));
      const auto db = static_cast<float>(mul_once(log, per_log));
      // Chosen by bits, as the compiler does not vectorise loops with branches.
      const float end = chosen(ratio > 0, kInfinity, cutoff);
      const float number = chosen(is_number, db, end);
      return chosen(v == v, number > cutoff ? number : cutoff, v);
    }
  };

  struct DecibelsOnDevice {
    Decibels of;
    const float* reference;
    STOKER_HD float operator()(float v) const {
      Decibels own = of;
      own.set_reference(full(*reference));
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
  STOKER_HD static float full(float reference) { return reference > 0 ? reference : 1.0f; }

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
          "The value of 0 dB, above 0. Default: the greatest number of the sample.", at_least(0)));

  static constexpr int kVersion = 2;
  // A reference of 0 was the default, and stood for the greatest number.
  static void upgrade(int /*version*/, Arguments& saved) {
    const auto given = saved.find("reference");
    if (given == saved.end()) return;
    if (given->second == Value(0.0) || given->second == Value(int64_t{0})) saved.erase(given);
  }

  void check(Checker& c) const {
    require(reference != 0.0f,
            "argument 'reference' is 0, expected more than 0; without it the greatest number of a "
            "sample is the reference");
    c.out(c.in());
  }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const {
    if (reference) d.needed[0] = d.wanted[0];
  }

  Decibels decibels(float greatest) const {
    constexpr double kPerBase = 0x1.bcb7b1526e50ep-2;  // 1 / ln 10
    Decibels d{static_cast<double>(multiplier) * kPerBase, cutoff_db};
    d.set_reference(full(greatest));
    return d;
  }

  void run_cpu(Run& r) const {
    float greatest = reference.value_or(0);
    const View& in = r.inputs[0];
    const View found = View::dense(&greatest, DType::kFloat32, {});
    if (!reference) extremes(in, kAll.data(), true, found, r.scratch);
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
    std::vector<float> given(items.size(), op.reference.value_or(0));
    const float* references = r.put(std::span<const float>(given));
    if (!op.reference) {
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

 private:
  static constexpr std::array<bool, kMaxRank> kAll = {true, true, true, true, true, true};
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::ToDecibels)
