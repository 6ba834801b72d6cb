// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Mixes a picture with a row of numbers. It has two inputs, two outputs, a GPU half, and an
// argument with a value for each frame.
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::example {

struct Mingle {
  struct Work {
    const std::byte *first, *second;
    Shape strides, shape, origin, full;  // of the first; of the window
    int64_t step, count;  // of the second
    int share;
    uint8_t* mixed;
    int32_t* used;
    int64_t pieces;

    Work(std::span<const View> in, std::span<const View> out, int share)
        : first(in[0].as<std::byte>()),
          second(in[1].as<std::byte>()),
          strides(in[0].strides),
          shape(out[0].shape),
          origin(out[0].origin),
          full(out[0].full),
          step(in[1].strides[0]),
          count(in[1].shape[0]),
          share(share),
          mixed(out[0].as<uint8_t>()),
          used(out[1].as<int32_t>()),
          pieces(shape.volume() + 1) {
      for (int a = 0; a < shape.rank; ++a) first += (origin[a] - in[0].origin[a]) * strides[a];
    }
    STOKER_HD void run(int64_t k) const {
      if (k + 1 == pieces) return void(*used = share);
      const std::byte* from = first;
      int64_t rest = k, number = 0, weight = 1;
      for (int a = shape.rank - 1; a >= 0; --a) {
        from += rest % shape[a] * strides[a];
        number += (origin[a] + rest % shape[a]) * weight;
        rest /= shape[a], weight *= full[a];
      }
      const int a = static_cast<int>(*from), b = static_cast<int>(second[number % count * step]);
      mixed[k] = static_cast<uint8_t>((a * share + b * (16 - share)) / 16);
    }
  };

  float share = 0.5f;
  static constexpr auto schema = describe(
      "example.mingle",
      "Mixes a picture with a row of numbers.\n\nThe row begins anew where it ends.",
      ports({.name = "first", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"},
            {.name = "second", .help = "Numbers.", .dtypes = "uint8"}),
      ports({.name = "mixed", .help = "The picture."}, {.name = "used", .help = "Sixteenths."}),
      arg(&Mingle::share, "share", "Of the picture.", between(0, 1), kPerFrame));

  int sixteenths() const { return static_cast<int>(share * 16); }
  void check(Checker& c) const { c.out(c.in()), c.out({DType::kInt32, "", {}}); }
  void infer(Inference& i) const { i.out(i.inputs[0]), i.out({DType::kInt32, "", {}}); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    const Work work(r.inputs, r.outputs, sixteenths());
    for (int64_t k = 0; k < work.pieces; ++k) work.run(k);
  }
  static void run_gpu(GpuRun& r, std::span<const Mingle* const> items) {
    std::vector<Work> work;
    for (size_t i = 0; i < items.size(); ++i)
      work.emplace_back(r.items[i].inputs, r.items[i].outputs, items[i]->sixteenths());
    run_each(r, std::span<const Work>(work));
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0], [8]]]", "uint8 [4, 2]"}, {"uint8 [[[2], [5]]]", "int32 8"}},
            {"share=1.0", {"uint8 HWC [[[7]]]", "uint8 [4, 2]"}, {"uint8 [[[7]]]", "int32 16"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Mingle)
