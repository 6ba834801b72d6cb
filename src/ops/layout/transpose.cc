// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Transpose {
  std::optional<Small<int>> perm;
  bool transpose_layout = true;
  Layout output_layout;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "transpose",
      "Reorders the axes of a tensor.\n\n"
      "Accepts any dtype and layout. The letters of the layout move with their axes.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The same values with their axes in the new order."}),
      arg(&Transpose::perm, "perm",
          "For each axis of the output the number of that of the input. Default: the reverse "
          "order.",
          between(0, kMaxRank - 1)),
      arg(&Transpose::transpose_layout, "transpose_layout",
          "Whether the letters of the layout move too. Else the output has the input's layout."),
      arg(&Transpose::output_layout, "output_layout",
          "Layout of the output, which takes precedence over transpose_layout."));

  // For an input whose rank is known.
  Store store(const TensorType& in) const {
    const int rank = in.shape.rank;
    Store s;
    for (int a = 0; a < rank; ++a) s.perm[a] = rank - 1 - a;
    if (perm) {
      require_count("argument 'perm'", perm->size(), {rank}, "one per axis");
      std::copy(perm->begin(), perm->end(), s.perm);
      for (int a = 0; a < rank; ++a)
        require(std::count(s.perm, s.perm + rank, a) == 1, "argument 'perm' is ", *perm,
                ", expected each number from 0 to ", rank - 1, " once");
    }
    require(output_layout.empty() || output_layout.rank() == rank, "argument 'output_layout' is ",
            output_layout, ", the input has ", rank, " axes");
    s.layout = !output_layout.empty() || transpose_layout ? output_layout : in.layout;
    return s;
  }

  void check(Checker& c) const {
    const TensorType& in = c.in();
    if (in.shape.rank >= 0) return c.out(after(Block{store(in), in.dtype}, in));
    c.out({in.dtype, output_layout, in.shape});
  }

  void lower(Lowering& l) const { l.add(store(l.type()), l.type().dtype); }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HW [[1, 2, 3], [4, 5, 6]]"}, {"uint8 [[1, 4], [2, 5], [3, 6]]"}},
        {"perm=[2, 0, 1]", {"float32 HWC [[[1, 2], [3, 4]]]"}, {"float32 [[[1, 3]], [[2, 4]]]"}},
        {"perm=[1, 0], transpose_layout=False", {"int16 HW [[1, 2]]"}, {"int16 [[1], [2]]"}},
        {"perm=[0], output_layout=\"W\"", {"int64 [7, 8]"}, {"int64 [7, 8]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Transpose)
