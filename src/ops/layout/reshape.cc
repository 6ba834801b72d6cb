// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/reshape_arguments.h"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Reshape : ReshapeArguments {
  static constexpr Classes kClasses = Classes::kKept;
  static constexpr bool kAlias = true;
  static constexpr auto schema = describe(
      "reshape",
      "Gives a tensor another shape or layout.\n\n"
      "The values stay in their order, with the last axis running fastest, and are not copied.",
      ports({.name = "input", .help = "Any tensor."}, kShapePort),
      ports({.name = "output", .help = "The same values in the new shape."}), kReshapeArguments);

  void check(Checker& c) const {
    c.out(asked(c, c.in().dtype));
    require(shape || rel_shape || src_dims || layout || c.has(1) || c.is_computed("shape") ||
                c.is_computed("rel_shape") || c.is_computed("src_dims"),
            "expects a new shape or layout");
  }
  void infer(Inference& i) const { i.out(asked(i, i.inputs[0].dtype)); }

  static std::vector<Case> cases() {
    return {
        {"shape=[2, -1]", {"uint8 [1, 2, 3, 4, 5, 6]"}, {"uint8 [[1, 2, 3], [4, 5, 6]]"}},
        {"layout=\"HW\"", {"int32 [[1, 2]]"}, {"int32 [[1, 2]]"}},
        {"rel_shape=[0.5, 2]", {"float32 HW [[1], [2]]"}, {"float32 [[1, 2]]"}},
        {"src_dims=[1, 0, -1]", {"uint8 HW [[1, 2]]"}, {"uint8 [[[1]], [[2]]]"}},
        {"", {"uint8 [1, 2, 3, 4]", "int32 [2, 2]"}, {"uint8 [[1, 2], [3, 4]]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Reshape)
