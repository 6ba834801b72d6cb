// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns an image into its negative: an operator that lowers to a block.
#include "op/type_of.h"

namespace stoker::ops::example {

struct Negative {
  float strength = 1;

  static constexpr auto schema = describe(
      "example.negative", "Turns an image into its negative.\n\nA value v becomes 255 - v.",
      ports({.name = "input", .help = "Image.", .layouts = "HWC"}),
      ports({.name = "output", .help = "The negative."}),
      arg(&Negative::strength, "strength", "0 keeps the image, 1 is the negative.", between(0, 1),
          kPerSample));

  void check(Checker& c) const { c.out(c.in()); }
  void lower(Lowering& l) const {
    l.add(Pointwise{{}, {1 - 2 * strength}, {255 * strength}}, l.type().dtype);
  }
  static std::vector<Case> cases() {
    return {{"", {"uint8 HWC [[[0], [200]]]"}, {"uint8 [[[255], [55]]]"}},
            {"strength=0.0", {"uint8 HWC [[[7]]]"}, {"uint8 [[[7]]]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Negative)
