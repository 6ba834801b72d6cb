// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory addressed by positions.
#pragma once
#include <cstddef>

#include "base/view.h"

namespace stoker {

// Position p, in full coordinates, lies at data + offset + the sum of p[a] * stride[a].
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

}  // namespace stoker
