// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/reshape_arguments.h"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Reinterpret : ReshapeArguments {
  std::optional<DType> dtype;

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) const {
    require(!dtype || *dtype == c.in().dtype,
            "the input holds class numbers, and bytes of another dtype are none. fn.cast(x, "
            "dtype=...) makes quantities of them");
  }

  static constexpr bool kAlias = true;
  static constexpr auto schema = describe(
      "reinterpret",
      "Reads the bytes of a tensor as values of another dtype, shape or layout.\n\n"
      "The bytes stay in their order, and are not copied. Where only the dtype changes, the extent "
      "of the last axis changes with the size of the values.",
      ports({.name = "input", .help = "Any tensor."}, kShapePort),
      ports({.name = "output", .help = "The same bytes of another type."}), kReshapeArguments,
      arg(&Reinterpret::dtype, "dtype", "The new dtype. Default: that of the input."));

  void check(Checker& c) const {
    c.out(asked(c, dtype.value_or(c.in().dtype)));
    require(dtype || shape || rel_shape || src_dims || layout || c.has(1) ||
                c.is_computed("shape") || c.is_computed("rel_shape") || c.is_computed("src_dims"),
            "expects a new dtype, shape or layout");
  }
  void infer(Inference& i) const { i.out(asked(i, dtype.value_or(i.inputs[0].dtype))); }

  static std::vector<Case> cases() {
    return {
        {"dtype=types.UINT8", {"uint16 HW [[1, 258]]"}, {"uint8 [[1, 0, 2, 1]]"}},
        {"dtype=types.INT16, shape=[-1]", {"uint8 [[1, 0], [255, 255]]"}, {"int16 [1, -1]"}},
        {"shape=[1, 2]", {"float32 [0.5, 1.5]"}, {"float32 [[0.5, 1.5]]"}},
        {"dtype=types.INT32, layout=\"W\"", {"float32 [1.0]"}, {"int32 [1065353216]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Reinterpret)
