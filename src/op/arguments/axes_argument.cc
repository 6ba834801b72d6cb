// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/axes_argument.h"

#include "op/rules.h"

namespace stoker {

Small<int> axes_asked(const Small<int>& numbers, const std::optional<Layout>& names,
                      const TensorType& in) {
  Small<int> axes;
  const auto add = [&](int axis) {
    require(std::count(axes.begin(), axes.end(), axis) == 0, "axis ", axis, " is named twice");
    axes.push_back(axis);
  };
  if (names) {
    for (char letter : names->str()) {
      const int axis = in.layout.find(letter);
      require(axis >= 0, "argument 'axis_names' names axis ", letter, ", the layout is ",
              in.layout.empty() ? "unknown" : in.layout.str());
      add(axis);
    }
    return axes;
  }
  for (int axis : numbers) add(axis_numbered("axes", axis, in.shape.rank));
  return axes;
}

void require_one_kind(bool has_numbers, bool has_letters) {
  require(!has_numbers || !has_letters, "arguments 'axes' and 'axis_names' exclude each other");
}

}  // namespace stoker
