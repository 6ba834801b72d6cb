// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/meeting.h"
#include "op/type_of.h"

namespace stoker::ops::conditional {

// The engine makes the side that is taken and gives it as it is: Note [Guards], graph/graph.h.
struct Merge {
  static constexpr Classes kClasses = Classes::kKept;
  static constexpr bool kMerge = true;
  static constexpr auto schema = describe(
      "merge",
      "Gives, for each sample, one of two values, as a condition says.\n\n"
      "Only the value that is taken is made. Those that meet in a batch have the same dtype and "
      "number of axes, and the same layout if both have one; their shapes may differ. Where one of "
      "them lies on the GPU, so does the result.",
      ports({.name = "if_true", .help = "Any tensor: the result where the predicate is true."},
            {.name = "if_false", .help = "Any tensor: the result where it is false."},
            {.name = "predicate",
             .help = "One number for each sample, which is true unless it is 0.",
             .is_value = true}),
      ports({.name = "output", .help = "The value that was taken."}));

  void check(Checker& c) const {
    TensorType a = c.in(0);
    const TensorType& b = c.in(1);
    if (const char* way = way_to_meet(a, b))
      throw GraphError("both sides expect the same dtype, number of axes and layout, got " +
                       a.str() + " where the condition is true and " + b.str() +
                       " where it is false; " + way);
    if (a.layout.empty()) a.layout = b.layout;
    if (a.shape.rank < 0 || b.shape.rank < 0) {
      a.shape.rank = -1;
    } else {
      for (int i = 0; i < a.shape.rank; ++i)
        if (a.shape[i] != b.shape[i]) a.shape[i] = -1;
    }
    c.out(a);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    l.add(Gather::identity(in.shape), in.dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 [1]", "float32 [2, 3]", "bool True"}, {"float32 [1]"}},
        {"", {"float32 [1]", "float32 [2, 3]", "bool False"}, {"float32 [2, 3]"}},
    };
  }
};

}  // namespace stoker::ops::conditional

STOKER_OPERATOR(stoker::ops::conditional::Merge)
