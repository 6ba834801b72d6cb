// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::layout {

struct PerFrame {
  bool replace = false;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "per_frame",
      "Marks the outermost axis of a tensor as frames, so that each value serves one frame.\n\n"
      "As an argument of an operator that works on a sequence, the result gives one value to each "
      "frame. Values, dtype and shape stay; the layout's first letter becomes F.",
      ports({.name = "input", .help = "Any tensor of at least one axis."}),
      ports({.name = "output", .help = "The same values with a layout that starts with F."}),
      arg(&PerFrame::replace, "replace",
          "Whether a first letter other than F may be replaced; otherwise it is an error."));

  Layout marked(const TensorType& in) const {
    require(in.shape.rank != 0, "a scalar has no axis that could hold frames");
    if (in.layout.empty())
      return "F" + std::string(static_cast<size_t>(std::max(in.shape.rank - 1, 0)), '*');
    std::string letters(in.layout.str());
    require(letters[0] == 'F' || replace, "the layout ", in.layout,
            " does not start with F; replace=True replaces its first letter");
    letters[0] = 'F';
    return letters;
  }

  void check(Checker& c) const {
    TensorType t = c.in();
    t.layout = marked(t);
    c.out(t);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    Store s;
    s.layout = marked(in);
    l.add(s, in.dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 [0.5, 1.0]"}, {"float32 [0.5, 1.0]"}},
        {"replace=True", {"uint8 HW [[1], [2]]"}, {"uint8 [[1], [2]]"}},
        {"", {"int32 FC [[1, 2]]"}, {"int32 [[1, 2]]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::PerFrame)
