// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::layout {

struct ExpandDims {
  Small<int> axes;
  Layout new_axis_names;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr bool kAlias = true;
  static constexpr auto schema =
      describe("expand_dims",
               "Inserts axes of extent 1.\n\n"
               "The values are not copied. The output has a layout if the new axes have names.",
               ports({.name = "input", .help = "Any tensor."}),
               ports({.name = "output", .help = "The same values with more axes."}),
               arg(&ExpandDims::axes, "axes", "The numbers of the new axes in the output.",
                   between(0, kMaxRank - 1), kRequired),
               arg(&ExpandDims::new_axis_names, "new_axis_names",
                   "The letters of the new axes, in the order of 'axes'."));

  // For an input whose rank is known.
  TensorType expanded(const TensorType& in) const {
    const int rank = in.shape.rank + static_cast<int>(axes.size());
    require(rank <= kMaxRank, "the output would have ", rank, " axes, expected at most ", kMaxRank);
    require(new_axis_names.empty() || !in.layout.empty() || in.shape.rank == 0,
            "argument 'new_axis_names' needs an input with a layout");
    TensorType t{in.dtype, {}, {}};
    std::string letters;
    int from = 0;
    for (int a = 0; a < rank; ++a) {
      const auto* found = std::find(axes.begin(), axes.end(), a);
      const bool is_new = found != axes.end();
      require(is_new || from < in.shape.rank, "argument 'axes' is ", axes, ", and the output has ",
              rank, " axes");
      if (!in.layout.empty() && !is_new) letters += in.layout.letters[from];
      if (!new_axis_names.empty() && is_new)
        letters += new_axis_names.letters[found - axes.begin()];
      t.shape.push_back(is_new ? 1 : in.shape[from++]);
    }
    const bool is_named = axes.empty() || !new_axis_names.empty();
    t.layout = is_named ? Layout(letters) : Layout();
    for (char c : t.layout.str())
      require(std::count(letters.begin(), letters.end(), c) == 1, "the layout would be ", letters,
              ", with more than one ", c);
    return t;
  }

  void check(Checker& c) const {
    for (int a : axes)
      require(std::count(axes.begin(), axes.end(), a) == 1, "argument 'axes' names axis ", a,
              " twice");
    if (!new_axis_names.empty())
      require_count("argument 'axes'", axes.size(), {new_axis_names.rank()},
                    "one per letter of 'new_axis_names'");
    if (c.in().shape.rank >= 0) return c.out(expanded(c.in()));
    c.out({c.in().dtype, {}, c.in().shape});
  }
  void infer(Inference& i) const { i.out(expanded(i.inputs[0])); }

  static std::vector<Case> cases() {
    return {
        {"axes=[0]", {"uint8 HW [[1, 2]]"}, {"uint8 [[[1, 2]]]"}},
        {"axes=[2], new_axis_names=\"C\"", {"float32 HW [[1, 2]]"}, {"float32 [[[1], [2]]]"}},
        {"axes=[3, 0], new_axis_names=\"CF\"", {"int16 HW [[1], [2]]"}, {"int16 [[[[1]], [[2]]]]"}},
        {"axes=[0, 1]", {"bool True"}, {"bool [[True]]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::ExpandDims)
