// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/shape_argument.h"

#include "op/rules.h"

namespace stoker {

namespace {

Shape shape_of(const Small<int64_t>& extents) {
  require(extents.size() <= static_cast<size_t>(kMaxRank), "argument 'shape' has ", extents.size(),
          " axes, expected at most ", kMaxRank);
  Shape s;
  for (int64_t e : extents) {
    require(e >= 0, "argument 'shape' has the extent ", e);
    s.push_back(e);
  }
  require(s.is_possible(), "argument 'shape' is ", s, ", more than 2^40 elements");
  return s;
}

}  // namespace

Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Inference& i) {
  if (argument) return shape_of(*argument);
  return i.has(0) ? i.inputs[0].shape : Shape{};
}

Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Checker& c) {
  require(!argument || !c.has(0), "argument 'shape' and an input exclude each other");
  if (argument) return shape_of(*argument);
  if (c.is_computed("shape")) return Shape::filled(-1, 0);
  return c.has(0) ? c.in().shape : Shape{};
}

}  // namespace stoker
