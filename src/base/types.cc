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

TensorType frame_type(TensorType t) {
  t.layout = t.layout.str().substr(1);
  std::copy(t.shape.extent + 1, t.shape.extent + t.shape.rank, t.shape.extent);
  --t.shape.rank;
  return t;
}

TensorType sequence_type(const TensorType& t, int64_t frames) {
  if (t.shape.rank < 0) return t;
  TensorType s = t;
  s.shape = {frames};
  for (int a = 0; a < t.shape.rank; ++a) s.shape.push_back(t.shape[a]);
  const std::string letters(t.layout.str());
  s.layout =
      "F" + (letters.empty() ? std::string(static_cast<size_t>(t.shape.rank), '*') : letters);
  return s;
}

}  // namespace stoker
