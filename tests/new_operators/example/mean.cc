// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The mean of two pictures. A window of it needs the same window of both, as `demand` says.
#include "op/type_of.h"

namespace stoker::ops::example {

struct Mean {
  bool is_strict = false;

  static constexpr auto schema = describe(
      "example.mean",
      "The mean of two pictures.\n\nThey must have the same shape. Halves are rounded down.",
      ports({.name = "first", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"},
            {.name = "second", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
      ports({.name = "output", .help = "The mean."}),
      arg(&Mean::is_strict, "is_strict", "Whether to refuse more than the window that is needed."));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const {
    require(i.inputs[0] == i.inputs[1], "the pictures differ in shape");
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const { d.needed[0] = d.needed[1] = d.wanted[0]; }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    for (const View& in : r.inputs)
      require(!is_strict || in.shape == out.shape, "got more than was needed");
    for (int64_t y = 0; y < out.shape[0]; ++y)
      for (int64_t x = 0; x < out.shape[1]; ++x)
        for (int64_t c = 0; c < out.shape[2]; ++c)
          *at(out, out, y, x, c) = static_cast<uint8_t>(
              (*at(r.inputs[0], out, y, x, c) + *at(r.inputs[1], out, y, x, c)) / 2);
  }
  // The element (y, x, c) of the window `of`, in a view that covers that window.
  static uint8_t* at(const View& v, const View& of, int64_t y, int64_t x, int64_t c) {
    const int64_t place[] = {y, x, c};
    auto* p = static_cast<uint8_t*>(v.data);
    for (int a = 0; a < 3; ++a) p += (of.origin[a] + place[a] - v.origin[a]) * v.strides[a];
    return p;
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0], [9]]]", "uint8 HWC [[[4], [7]]]"}, {"uint8 [[[2], [8]]]"}},
            {"", {"uint8 HWC [[[1]]]", "uint8 HWC [[[2]]]"}, {"uint8 [[[1]]]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Mean)
