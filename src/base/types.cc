// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/types.h"

namespace stoker {

std::string Shape::str() const {
  std::string s = "(";
  for (int i = 0; i < rank; ++i) {
    if (i) s += ", ";
    s += extent[i] < 0 ? "?" : std::to_string(extent[i]);
  }
  return s + (rank == 1 ? ",)" : ")");
}

std::string TensorType::str() const {
  std::string s = name_of(dtype);
  if (!layout.empty()) s += " " + std::string(layout.str());
  return s + " " + shape.str();
}

}  // namespace stoker
