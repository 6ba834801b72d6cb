// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/poisson.h"
#include "op/loops/noise.cuh"
#include "op/op.h"

namespace stoker::ops::augment {

struct NoiseShot {
  float factor = 20;

  // The value has to be known to draw: a number of its own stands for all draws of an element.
  struct Shot {
    double factor;
    Chance chance;
    const std::byte* in;
    Axes elements;
    DType dtype;
    int size;
    std::byte* out;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const {
      const double v = number_of<double>(load_value(in + elements.offset(k), dtype));
      store_value(value_of(shot(v, factor, chance, k), dtype), out + k * size);
    }
  };
  STOKER_HD static double shot(double value, double factor, const Chance& chance, int64_t number) {
    if (!(value > 0) || factor == 0) return 0;
    return detail::mul_once(poisson_of(chance, number, value / factor), factor);
  }
  template <class T>
  struct ShotElement {
    double factor;
    Chance chance;
    STOKER_HD T operator()(T v, int64_t number) const {
      return convert<T>(shot(convert<double>(v), factor, chance, number));
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

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    const int64_t volume = out.shape.volume();
    auto* numbers = r.scratch.array<int64_t>(static_cast<size_t>(volume));
    const View all = View::window(numbers, DType::kInt64, out.covers(), out.full);
    const Axes places(out.shape, View::dense_strides(out.full, 1));
    int64_t first = 0;
    for (int a = 0; a < out.full.rank; ++a)
      first += out.origin[a] * View::dense_strides(out.full, 1)[a];
    for (int64_t k = 0; k < volume; ++k) numbers[k] = first + places.offset(k);
    with_type(out.dtype, [&](auto v) {
      using T = decltype(v);
      map<T, T, int64_t>(out, ShotElement<T>{static_cast<double>(factor), r.chance}, in, all);
    });
  }
  static void run_gpu(GpuRun& r, std::span<const NoiseShot* const> items) {
    std::vector<Shot> all;
    for (size_t i = 0; i < items.size(); ++i) {
      const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
      const Strided s = Strided::of(in);
      all.push_back({static_cast<double>(items[i]->factor), r.items[i].chance, s.data + s.offset,
                     Axes(out.full, in.strides), out.dtype, size_of(out.dtype), out.as<std::byte>(),
                     out.shape.volume()});
    }
    run_each(r, std::span<const Shot>(all));
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 HW [[0, -2]]"}, {"float32 [[0, 0]]"}},
        {"factor=0.0", {"uint8 [7]"}, {"uint8 [0]"}},
    };
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::NoiseShot)
