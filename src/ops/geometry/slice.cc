// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/dtype_argument.h"
#include "op/type_of.h"
#include "op/window/out_of_bounds.h"
#include "op/window/slice_window.h"

namespace stoker::ops::geometry {

struct Slice : SliceArguments, OutOfBoundsArguments, DtypeArgument {
  static constexpr auto schema = describe(
      "slice",
      "Cuts a window out of any tensor.\n\n"
      "The window's start and its end or shape are given by positional inputs (anchor, shape) or "
      "by arguments, with one value per sliced axis; an argument of one value holds for all. "
      "Values count elements or, with rel_ and normalized_, are fractions of the extent. Other "
      "axes stay whole. Positions are rounded to whole elements, halves away from zero. By default "
      "the axes are W, H, in this order. A window that reaches outside is treated as "
      "out_of_bounds_policy says; under 'error' the sample fails.",
      ports({.name = "data", .help = "Any tensor."}, kSliceAnchorPort, kSliceShapePort),
      ports({.name = "output", .help = "The window, in the input's layout."}), kSliceArguments,
      kOutOfBoundsArguments, kDtypeArgument);

  void check(Checker& c) const {
    TensorType t = c.in();
    t.dtype = dtype.value_or(t.dtype);
    t.shape = checked_slice(*this, out_of_bounds_policy, c, t);
    c.out(t);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    const View* anchor = l.has(1) ? &l.value(1) : nullptr;
    const View* size = l.has(2) ? &l.value(2) : nullptr;
    const Window w = slice_window(*this, in, anchor, size);
    const std::string hint = order_hint(w, *this, in, anchor, size);
    const Window inside = settle(w, in, out_of_bounds_policy, hint);
    l.add(cut(inside, in, fill_values), dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"start=[1, 0], shape=[2, 1]",
         {"uint8 HWC [[[1], [2], [3]], [[4], [5], [6]]]"},
         {"uint8 [[[2], [3]]]"}},
        {"rel_start=[0.5], rel_end=[1.0], axes=[0]", {"int32 [1, 2, 3]"}, {"int32 [3]"}},
        {"",
         {"uint8 HW [[1, 2], [3, 4]]", "float32 [0.5, 0.0]", "float32 [0.5, 0.5]"},
         {"uint8 [[2]]"}},
        {"axis_names=\"H\", start=[-1], end=[2], out_of_bounds_policy=\"pad\", fill_values=[7.0]",
         {"float32 HW [[1], [2]]"},
         {"float32 [[7], [1], [2]]"}},
        {"axes=[-1], out_of_bounds_policy=\"trim_to_shape\"",
         {"int16 [1, 2, 3, 4]", "int32 [2]", "int32 [9]"},
         {"int16 [3, 4]"}},
        {"axis_names=\"F\", start=[1], dtype=types.FLOAT",
         {"uint8 FHW [[[1]], [[2]]]"},
         {"float32 [[[2]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Slice)
