// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduces the number of levels, by one function for the CPU and the GPU half.
#include "kernels/elements/map.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::example {

struct Posterize {
  struct FewLevels {
    int bits;
    STOKER_HD uint8_t operator()(uint8_t v) const {
      return static_cast<uint8_t>(v & 0xFF00 >> bits);
    }
  };

  int bits = 4;
  static constexpr auto schema = describe(
      "example.posterize",
      "Reduces the number of levels.\n\n"
      "Of each value only the highest bits stay; the others become 0.",
      ports({.name = "input", .help = "Picture.", .layouts = "HWC, HW", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The same with fewer levels."}),
      arg(&Posterize::bits, "bits", "How many bits of each value stay.", between(1, 8),
          kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }
  void run_cpu(Run& r) const { map<uint8_t, uint8_t>(r.outputs[0], FewLevels{bits}, r.inputs[0]); }
  static void run_gpu(GpuRun& r, std::span<const Posterize* const> items) {
    map<uint8_t, uint8_t>(r, [&](size_t i) { return FewLevels{items[i]->bits}; });
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0, 17, 128, 255]]]"}, {"uint8 [[[0, 16, 128, 240]]]"}},
            {"bits=1", {"uint8 HW [[0, 127, 128, 255]]"}, {"uint8 [[0, 0, 128, 128]]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Posterize)
