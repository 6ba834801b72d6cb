// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/elements.h"

namespace stoker {

namespace {

template <class WrongCall>
Shape shape_of(const Small<int64_t>& extents) {
  if (extents.size() > static_cast<size_t>(kMaxRank))
    throw WrongCall("argument 'shape' has " + std::to_string(extents.size()) + " axes; at most " +
                    std::to_string(kMaxRank));
  Shape s;
  for (int64_t e : extents) {
    if (e < 0) throw WrongCall("argument 'shape' has the extent " + std::to_string(e));
    s.push_back(e);
  }
  return s;
}

}  // namespace

Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Inference& i) {
  if (argument) return shape_of<SampleError>(*argument);
  return i.has(0) ? i.inputs[0].shape : Shape{};
}

Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Checker& c) {
  if (argument && c.has(0)) throw GraphError("argument 'shape' and an input exclude each other");
  if (argument) return shape_of<GraphError>(*argument);
  if (c.is_computed("shape")) return Shape::filled(-1, 0);
  return c.has(0) ? c.in().shape : Shape{};
}

}  // namespace stoker
