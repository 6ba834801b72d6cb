// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/spatial_axes.h"

#include <string>

#include "op/rules.h"

namespace stoker {

std::vector<int> spatial_axes(const TensorType& type) {
  const Layout& layout = type.layout;
  const int rank = type.shape.rank;
  require(!layout.empty() || (rank > 0 && rank <= kMostSpatial), "the input has ", rank,
          " axes and no layout, expected 1 to ", kMostSpatial,
          ", which are all spatial, or a layout that names channels (C) and frames (F)");
  std::vector<int> axes;
  std::string letters;
  for (int a = 0; a < rank; ++a) {
    const char letter = layout.empty() ? '*' : layout.letters[a];
    if (letter != 'C' && letter != 'F') axes.push_back(a), letters += letter;
  }
  const auto count = std::ssize(axes);
  require(count > 0 && count <= kMostSpatial, "the input has ", count, " spatial axes",
          count ? " (" + letters + ")" : "", ", expected 1 to ", kMostSpatial);
  if (layout.empty()) return axes;
  const std::string all(layout.str());
  const std::string before = all.substr(0, axes[0]), behind = all.substr(axes.back() + 1);
  require(axes.back() - axes[0] + 1 == count, "the input has the axes ", all,
          ", expected the spatial ones, ", letters, ", next to each other");
  require(before.empty() || before == "C" || before == "CF", "the input has the axes ", before,
          " before the spatial ones, expected none, C or CF");
  require(behind.empty() || behind == "C", "the input has the axes ", behind,
          " behind the spatial ones, expected none or C");
  return axes;
}

}  // namespace stoker
