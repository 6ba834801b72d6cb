// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/axes_argument.h"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Squeeze {
  std::optional<Small<int>> axes;
  std::optional<Layout> axis_names;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr bool kAlias = true;
  static constexpr auto schema = describe(
      "squeeze",
      "Takes away axes of extent 1.\n\n"
      "The values are not copied. Of a tensor without elements any axis may go, as long as the "
      "result has none either. An axis that the tensor does not have is an error.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The same values with fewer axes."}),
      arg(&Squeeze::axes, "axes", "The axes by number; negative ones count from the end.",
          kPerSample),
      arg(&Squeeze::axis_names, "axis_names", "The axes by letter of the layout. Excludes axes."));

  // Whether it has no elements, as far as its extents are known.
  static bool may_be_empty(const Shape& s) {
    return std::any_of(s.extent, s.extent + s.rank, [](int64_t e) { return e <= 0; });
  }
  // For an input whose rank is known.
  TensorType squeezed(const TensorType& in) const {
    const Small<int> gone = axes_asked(axes.value_or(Small<int>{}), axis_names, in);
    TensorType t{in.dtype, {}, {}};
    std::string letters;
    int kept = -1;  // an axis that would have to stay
    for (int a = 0; a < in.shape.rank; ++a) {
      if (std::count(gone.begin(), gone.end(), a)) {
        if (in.shape[a] != 1 && in.shape[a] >= 0) kept = a;
        continue;
      }
      t.shape.push_back(in.shape[a]);
      if (!in.layout.empty()) letters += in.layout.letters[a];
    }
    require(kept < 0 || may_be_empty(t.shape), "axis ", kept, " of the shape ", in.shape,
            " cannot go, its extent is not 1");
    t.layout = letters;
    return t;
  }

  void check(Checker& c) const {
    const bool has_axes = axes || c.is_computed("axes");
    require(has_axes != axis_names.has_value(),
            "expects either of the arguments 'axes' and 'axis_names'");
    const bool is_known = c.in().shape.rank >= 0 && !c.is_computed("axes");
    c.out(is_known ? squeezed(c.in()) : TensorType{c.in().dtype, {}, Shape::filled(-1, 0)});
  }
  void infer(Inference& i) const { i.out(squeezed(i.inputs[0])); }

  static std::vector<Case> cases() {
    return {
        {"axes=[]", {"uint16 HW [[1, 2]]"}, {"uint16 [[1, 2]]"}},
        {"axes=[0]", {"uint8 [[1, 2]]"}, {"uint8 [1, 2]"}},
        {"axes=[-1, 0]", {"float32 HWC [[[1], [2]]]"}, {"float32 [1, 2]"}},
        {"axes=[0]", {"uint8 [[], []]"}, {"uint8 []"}},
        {"axis_names=\"C\"", {"int16 HWC [[[1], [2]]]"}, {"int16 [[1, 2]]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Squeeze)
