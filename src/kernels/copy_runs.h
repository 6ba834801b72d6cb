// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of a box of elements from one strided memory to another, as runs of bytes.
#pragma once
#include <cstddef>
#include <span>

#include "base/view.h"

namespace stoker {

// The runs are as long as possible, and so are the axes that count them, the innermost last.
struct Runs {
  int64_t bytes = 0;  // of a run; 0: the box is empty
  Shape count, from, to;  // of runs along each axis; how far the next one lies, in bytes

  Runs() = default;
  Runs(const Shape& box, const Shape& from_strides, const Shape& to_strides, int64_t element);
  int64_t volume() const { return bytes * count.volume(); }
  bool operator==(const Runs&) const = default;
};

// Requires: `to` does not overlap `from`.
void copy_runs(const Runs& runs, const void* from, void* to);

// Copies of several memories whose runs alternate: the output has a run of each, and then the next
// ones. They are made together, which is faster than to write the output several times.
inline constexpr size_t kMostAlternating = 8;
bool alternate(const Runs& runs, size_t count);  // for so many memories
// Requires: alternate(runs, from.size()).
void copy_alternating(const Runs& runs, std::span<const std::byte* const> from, std::byte* to);

}  // namespace stoker
