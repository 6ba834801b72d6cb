// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a tensor value by value, each computed from its number, for random operators and
// constants. Pure; thread-safe.
#pragma once
#include <optional>

#include "kernels/convert.h"
#include "op/context.h"
#include "op/value.h"

namespace stoker {

// Sets every element of the window `out` to the double value(k), where k is the element's number in
// the full shape, with the last axis running fastest.
template <class Value>
void set_elements(const View& out, Value value) {
  const int64_t count = out.shape.volume();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, number = 0, weight = 1;
    std::byte* place = out.as<std::byte>();
    for (int a = out.shape.rank - 1; a >= 0; --a) {
      const int64_t at = rest % out.shape[a];
      rest /= out.shape[a];
      place += at * out.strides[a];
      number += (out.origin[a] + at) * weight;
      weight *= out.full[a];
    }
    const double v = value(number);
    convert_row(&v, DType::kFloat64, place, out.dtype, 1);
  }
}

// The shape that an operator without data takes: the argument, else that of the first input, else a
// scalar. Throws WrongCall when an extent is negative or there are too many axes or elements.
Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Inference& i);
// The same when the graph is built, -1 where it is not known.
Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Checker& c);

}  // namespace stoker
