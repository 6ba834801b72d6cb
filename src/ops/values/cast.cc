// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::values {

struct Cast {
  DType dtype = DType::kFloat32;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema =
      describe("cast",
               "Changes the dtype of a tensor.\n\n"
               "Values that fit stay exact. Floats that become integers are rounded to the nearest "
               "one, halves away from zero; values outside the new type's range saturate; NaN "
               "becomes 0. What is a half or more away from zero becomes true, and so does NaN. "
               "Shape and layout stay.",
               ports({.name = "input", .help = "Any tensor."}),
               ports({.name = "output", .help = "The same values in the new dtype."}),
               arg(&Cast::dtype, "dtype", "The new dtype.", kRequired));

  void check(Checker& c) const {
    TensorType t = c.in();
    t.dtype = dtype;
    c.out(t);
  }

  void lower(Lowering& l) const { l.add(Convert{}, dtype); }

  static std::vector<Case> cases() {
    return {
        {"dtype=types.UINT8",
         {"float32 [-1.0, 0.5, 1.5, 2.4, 300.0]"},
         {"uint8 [0, 1, 2, 2, 255]"}},
        {"dtype=types.FLOAT", {"uint8 HW [[0, 255]]"}, {"float32 [[0.0, 255.0]]"}},
        {"dtype=types.BOOL", {"int32 [0, -3, 7]"}, {"bool [False, True, True]"}},
        {"dtype=types.INT16", {"int64 [-70000, 70000, 5]"}, {"int16 [-32768, 32767, 5]"}},
    };
  }
};

}  // namespace stoker::ops::values

STOKER_OPERATOR(stoker::ops::values::Cast)
