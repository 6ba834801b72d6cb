// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Flip {
  int horizontal = 1;
  int vertical = 0;
  int depthwise = 0;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "flip",
      "Mirrors an image, a volume or a sequence.\n\n"
      "Each of the three directions is mirrored where its argument is not 0. Accepts any dtype; "
      "the output has the input's type and shape. Without an axis D, depthwise has no "
      "effect.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW"}),
      ports({.name = "output", .help = "The mirrored input."}),
      arg(&Flip::horizontal, "horizontal", "1 swaps left and right.", between(0, 1), kPerFrame),
      arg(&Flip::vertical, "vertical", "1 swaps top and bottom.", between(0, 1), kPerFrame),
      arg(&Flip::depthwise, "depthwise", "1 swaps front and back.", between(0, 1), kPerFrame));

  void check(Checker& c) const { c.out(c.in()); }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    Gather g = Gather::identity(in.shape);
    auto mirror = [&](int axis) { g.axis[axis] = {in.shape[axis] - 1, -1, in.shape[axis]}; };
    if (horizontal) mirror(in.layout.find('W'));
    if (vertical) mirror(in.layout.find('H'));
    if (depthwise && in.layout.find('D') >= 0) mirror(in.layout.find('D'));
    l.add(g, in.dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"uint8 HWC [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]"},
         {"uint8 [[[3, 4], [1, 2]], [[7, 8], [5, 6]]]"}},
        {"horizontal=0, vertical=1", {"float32 HW [[1, 2], [3, 4]]"}, {"float32 [[3, 4], [1, 2]]"}},
        {"horizontal=0, depthwise=1",
         {"int16 DHWC [[[[1]]], [[[2]]]]"},
         {"int16 [[[[2]]], [[[1]]]]"}},
        {"horizontal=0, depthwise=1",
         {"uint8 FDHW [[[[1]], [[2]]], [[[3]], [[4]]]]"},
         {"uint8 [[[[2]], [[1]]], [[[4]], [[3]]]]"}},
        {"horizontal=1, vertical=1",
         {"uint8 FCHW [[[[1, 2]]], [[[3, 4]]]]"},
         {"uint8 [[[[2, 1]]], [[[4, 3]]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Flip)
