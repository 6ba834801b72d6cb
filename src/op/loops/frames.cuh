// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators that pick frames of a sequence share.
#pragma once
#include "op/loops/join.cuh"

namespace stoker {

// Throws WrongCall unless the outermost axis may be frames.
inline void require_sequence(const TensorType& in) {
  require(in.shape.rank != 0, "the input is a scalar, expected a sequence");
  require(in.layout.empty() || in.layout.find('F') == 0, "the input's layout is ", in.layout,
          ", expected one that begins with F");
}

// Frame f as a sequence of one frame; without data if the view does not cover it.
inline View one_frame(View v, int64_t f) {
  const bool is_covered = v.origin[0] <= f && f < v.origin[0] + v.shape[0];
  v.data = is_covered ? v.as<std::byte>() + (f - v.origin[0]) * v.strides[0] : nullptr;
  v.shape[0] = v.full[0] = 1;
  v.origin[0] = 0;
  return v;
}

inline View as_sequence(View frame) {
  const auto with_first = [](const Shape& s, int64_t first) {
    Shape longer{first};
    for (int a = 0; a < s.rank; ++a) longer.push_back(s[a]);
    return longer;
  };
  frame.shape = with_first(frame.shape, 1), frame.full = with_first(frame.full, 1);
  frame.strides = with_first(frame.strides, 0), frame.origin = with_first(frame.origin, 0);
  return frame;
}

}  // namespace stoker
