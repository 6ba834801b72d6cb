// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/broadcast.h"

#include "op/rules.h"

namespace stoker {

TensorType broadcast(std::span<const TensorType> inputs) {
  TensorType all;
  for (const TensorType& t : inputs) {
    if (t.shape.rank < 0) {
      all.shape.rank = -1;
      return all;
    }
    all.shape.rank = std::max(all.shape.rank, t.shape.rank);
  }
  const int rank = all.shape.rank;
  for (int a = 0; a < rank; ++a) {
    int64_t& extent = all.shape[a];
    extent = 1;
    bool unknown = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int own = a - (rank - inputs[i].shape.rank);
      const int64_t e = own < 0 ? 1 : inputs[i].shape[own];
      if (e < 0) unknown = true;
      if (e == 1 || e < 0) continue;
      require(extent == 1 || extent == e, "shapes expect equal extents or 1 along each axis, ",
              inputs[0].shape, " and ", inputs[i].shape, " have ", extent, " and ", e);
      extent = e;
    }
    if (extent == 1 && unknown) extent = -1;
  }
  Layout longest;
  for (const TensorType& t : inputs)
    if (t.layout.rank() > longest.rank()) longest = t.layout;
  for (const TensorType& t : inputs)
    require(t.layout.empty() || longest.str().ends_with(t.layout.str()),
            "layouts expect to be equal, or one the end of the other, got ", longest.str(), " and ",
            t.layout.str());
  if (longest.rank() == rank) all.layout = longest;
  return all;
}

Window part_for(const Window& wanted, const Shape& own) {
  Window part = Window::all(own);
  const int first = wanted.end.rank - own.rank;
  for (int a = 0; a < own.rank; ++a) {
    if (own[a] == 1) continue;
    part.begin[a] = wanted.begin[first + a];
    part.end[a] = wanted.end[first + a];
  }
  return part;
}

Shape strides_along(const View& v, int rank) {
  Shape strides = Shape::filled(rank, 0);
  for (int a = 0; a < v.full.rank; ++a)
    if (v.full[a] != 1) strides[rank - v.full.rank + a] = v.strides[a];
  return strides;
}

}  // namespace stoker
