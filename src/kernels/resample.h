// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Resample along any axes of any types, one axis at a time with everything in between in memory: obviously right, and what
// the row loops of fused.cc are measured against. They take the usual pictures; this takes the rest. Thread-safe.
#pragma once
#include <cstddef>

#include "base/view.h"
#include "kernels/block.h"
#include "memory/arena.h"

namespace stoker {

// Memory addressed by full positions: position p lies at data + offset + sum of p[a] * stride[a].
struct Strided {
  const std::byte* data = nullptr;
  DType dtype = DType::kUint8;
  int64_t offset = 0;
  Shape stride;

  const std::byte* at(const Shape& p) const {
    int64_t o = offset;
    for (int a = 0; a < p.rank; ++a) o += p[a] * stride[a];
    return data + o;
  }
  static Strided of(const View& v) {
    Strided s{static_cast<const std::byte*>(v.data), v.dtype, 0, v.strides};
    for (int a = 0; a < v.shape.rank; ++a) s.offset -= v.origin[a] * v.strides[a];
    return s;
  }
};

// Every axis picks the nearest position: values are moved, never computed.
bool is_selection(const Resample& r);

// The window `wanted` of what `r` makes of `in` (of shape `full`), as `result`; dense in the arena.
// Requires: `in` is valid over demand of `wanted`; r has an axis.
View resample(const Resample& r, const Strided& in, const Shape& full, DType result, const Window& wanted, Arena& arena);

}  // namespace stoker
