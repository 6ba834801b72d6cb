// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What x[...] takes of a tensor: the text in the brackets, and which elements that is.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/small.h"
#include "base/view.h"

namespace stoker {

struct Part {
  struct Axis {
    int of = -1;  // the tensor's axis; -1: a new one
    int64_t start = 0, step = 1;  // where its positions lie
  };
  TensorType type;
  Axis axis[kMaxRank];  // of the part
  Shape fixed;  // by axis of the tensor: the position of a number; else 0
  Shape full;  // of the tensor

  // The window of the tensor that a window of the part needs.
  Window needed(const Window& wanted) const;
  // The part as a view of the tensor's memory that covers what `out` covers.
  View seen(const View& tensor, const View& out) const;
};

struct Selection {
  static constexpr size_t kMostText = 1024;
  // A number in the text, or a computed one.
  struct Number {
    int64_t value = 0;
    int place = -1;  // of `$place`
  };
  struct Item {
    enum class Kind : uint8_t { kNumber, kRange, kRest, kNewAxis };
    Kind kind = Kind::kRange;
    char letter = 0;  // in the layout, of a new axis
    Number number;
    std::optional<Number> begin, end, step;
  };
  std::vector<Item> items;
  size_t computed_count = 0;  // of $0, $1, ...

  static Selection read(const std::string& text);  // throws WrongCall
  // The part's type. Unknown extents are -1, and so are those that depend on `computed` if that is
  // null. Throws WrongCall.
  TensorType type(const TensorType& in, const Small<int64_t>* computed) const;
  // Whether all axes stay, and none is new.
  bool keeps_axes() const;
  // Requires: the extents are known, and type() did not throw.
  Part part(const Shape& full, const Small<int64_t>& computed) const;
};

}  // namespace stoker
