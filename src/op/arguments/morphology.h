// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "kernels/neighbourhood/border.h"
#include "op/arguments/border.h"
#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

struct MorphologyArguments {
  Small<int> mask_size = {3, 3}, anchor = {-1, -1};
  int iterations = 1;
  Border border_mode = Border::kConstant;

  // The windows of an input of this type. Throws WrongCall.
  std::array<WindowAxis, 2> axes(const TensorType& in) const {
    require_count("argument 'mask_size'", mask_size.size(), {1, 2}, "width and height");
    require_count("argument 'anchor'", anchor.size(), {1, 2}, "x and y");
    return {axis(in, 'H', 1), axis(in, 'W', 0)};
  }

  void check(Checker& c) const {
    if (!c.is_computed("mask_size") && !c.is_computed("anchor") && !c.in().layout.empty())
      axes(c.in());
    c.out(c.in());
  }
  void infer(Inference& i) const {
    axes(i.inputs[0]);
    i.out(i.inputs[0]);
  }
  void demand(Demand& d) const {
    const TensorType& in = d.inputs[0];
    d.needed[0] = window_demand(d.wanted[0], in.shape, axes(in), border_mode);
  }

 private:
  WindowAxis axis(const TensorType& in, char letter, size_t i) const {
    const int a = in.layout.find(letter), size = mask_size.at_or_only(i);
    int64_t before = anchor.at_or_only(i);
    require(before >= -1 && before < size, "argument 'anchor' has ", before,
            ", expected a place in the mask, of ", size, " pixels, or -1");
    if (before < 0) before = size / 2;
    // From there on the border only repeats what was there.
    const int64_t most = 2 * std::max<int64_t>(in.shape[a], 0);
    const int64_t behind = std::min((size - 1 - before) * iterations, most);
    before = std::min(before * iterations, most);
    return {a, before + 1 + behind, before};
  }
};
inline constexpr auto kMorphologyArguments = std::tuple{
    arg(&MorphologyArguments::mask_size, "mask_size",
        "Width and height of the mask in pixels, or one number for both.", between(1, 10000),
        kPerFrame),
    arg(&MorphologyArguments::anchor, "anchor",
        "The place (x, y) in the mask of the pixel that is made; -1 is the middle.", at_least(-1),
        kPerFrame),
    arg(&MorphologyArguments::iterations, "iterations", "How often this is done.",
        between(0, 10000)),
    arg(&MorphologyArguments::border_mode, "border_mode",
        "What lies beyond the edge, beside pixels 1234: nothing ('constant'), 11 and 44 ('clamp' "
        "or 'replicate'), 32 and 32 ('reflect_101' or '101'), 21 and 43 ('reflect_1001', '1001' "
        "or 'reflect') or 34 and 12 ('wrap').")};

}  // namespace stoker
