// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/strided_copy.h"
#include "op/context.h"
#include "op/rules.h"
#include "op/window/box_crop.h"

namespace stoker {

// The boxes of an input of shape (N, 4) or (N, 6). Throws WrongCall if one lies outside by more
// than the rounding of a start plus a size in float32.
inline std::vector<SpaceBox> boxes_of(const View& in, const BoxLayout& order) {
  std::vector<float> rows(static_cast<size_t>(in.full.volume()));
  copy_to_dense(in, rows.data());
  std::vector<SpaceBox> boxes;
  for (int64_t b = 0; b < in.full[0]; ++b) {
    boxes.push_back(order.read(rows.data() + b * in.full[1]));
    for (int a = 0; a < order.dims(); ++a)
      for (double* v : {&boxes.back().lo[a], &boxes.back().hi[a]}) {
        constexpr double kOff = 4 * std::numeric_limits<float>::epsilon();
        require(*v >= -kOff && *v <= 1 + kOff, "box ", b, " has a coordinate of ", *v,
                ", expected 0 to 1");
        *v = std::clamp(*v, 0.0, 1.0);
      }
  }
  return boxes;
}

// Gives the `count` rows of an input that are kept. Throws WrongCall.
inline void give_rows(Run& r, size_t input, std::span<const size_t> kept, size_t output,
                      int64_t count) {
  const View& in = r.inputs[input];
  require(in.full.rank > 0 && in.full[0] == count, "the labels have the shape ", in.full,
          ", and there are ", count, " boxes");
  TensorType t{in.dtype, in.layout, in.full};
  t.shape[0] = static_cast<int64_t>(kept.size());
  auto* to = r.make(output, t).as<std::byte>();
  const Shape one = View::without_first(in.shape), strides = View::without_first(in.strides);
  for (size_t b : kept) {
    const auto* from = in.as<std::byte>() + static_cast<int64_t>(b) * in.strides[0];
    copy_to_dense(from, one, strides, size_of(in.dtype), to);
    to += one.volume() * size_of(in.dtype);
  }
}

// Gives the kept boxes, as they are or as parts of the window.
inline void give_boxes(Run& r, size_t input, const BoxCrop::Found& f, const BoxLayout& order,
                       std::span<const SpaceBox> boxes, size_t output) {
  const View& in = r.inputs[input];
  if (f.whole) return give_rows(r, input, f.kept, output, in.full[0]);
  const auto left = static_cast<int64_t>(f.kept.size());
  auto* to = r.make(output, {DType::kFloat32, {}, {left, in.full[1]}}).as<float>();
  for (size_t b : f.kept) {
    order.write(seen_in(boxes[b], f.window, order.dims()), to);
    to += in.full[1];
  }
}

}  // namespace stoker
