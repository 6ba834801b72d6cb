// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies windows, and fills boxes in them.
#pragma once
#include <vector>

#include "kernels/convert.h"
#include "kernels/elements/map.h"
#include "kernels/strided_copy.h"
#include "memory/arena.h"

namespace stoker {

template <class T>
struct Same {
  STOKER_HD T operator()(T v) const { return v; }
};

// Sets `out` to the part of `in` at the same full positions. Requires: equal dtypes and ranks; `in`
// covers `out` and does not overlap it.
inline void copy_window(const View& in, const View& out) {
  if (out.shape.volume() == 0) return;
  if (out.is_dense()) {
    const std::byte* from = in.as<std::byte>() + Track::of(in, out.origin).start;
    return copy_to_dense(from, out.shape, in.strides, size_of(in.dtype), out.data);
  }
  with_size(size_of(in.dtype), [&](auto v) {
    using T = decltype(v);
    map<T, T>(out, Same<T>{}, in);
  });
}

// The part of the box, in full coordinates, that `v` covers; perhaps empty.
inline View part_of(const View& v, const Window& box) {
  View part = v;
  for (int a = 0; a < v.shape.rank; ++a) {
    part.origin[a] = std::max(v.origin[a], box.begin[a]);
    const int64_t end = std::min(v.origin[a] + v.shape[a], box.end[a]);
    part.shape[a] = std::max<int64_t>(end - part.origin[a], 0);
  }
  if (part.shape.volume() == 0) return part;
  part.data = v.as<std::byte>() + Track::of(v, part.origin).start;
  return part;
}

inline bool has_dense_rows(const View& v, int first) {
  const Shape dense = View::dense_strides(v.shape, size_of(v.dtype));
  for (int a = first; a < v.shape.rank; ++a)
    if (v.strides[a] != dense[a] && v.shape[a] != 1) return false;
  return true;
}

// The view, or a copy of it whose axes from `first` on are dense.
inline View with_dense_rows(const View& v, int first, Arena& scratch) {
  if (has_dense_rows(v, first)) return v;
  void* copied = scratch.allocate(static_cast<size_t>(v.bytes()));
  copy_to_dense(v, copied);
  return View::window(copied, v.dtype, v.covers(), v.full, v.layout);
}

template <class T>
std::vector<T> converted(std::span<const float> values) {
  std::vector<T> numbers;
  for (float v : values) numbers.push_back(convert<T>(v));
  return numbers;
}

// Sets the elements of the box to values[0] or, if there are several, to those of their positions
// of `axis`.
template <class T>
void fill_box(const View& out, const Window& box, const std::vector<T>& values, int axis) {
  const int rank = out.shape.rank, outer = std::max(rank - 2, 0);
  if (values.size() > 1 && axis < outer) {  // all of a row has one value
    Window plane = box;
    for (int64_t c = box.begin[axis]; c < box.end[axis]; ++c) {
      plane.begin[axis] = c, plane.end[axis] = c + 1;
      fill_box<T>(out, plane, {values[static_cast<size_t>(c)]}, axis);
    }
    return;
  }
  View part = part_of(out, box);
  if (part.shape.volume() == 0) return;
  // The first row is made of the last two axes, and then copied.
  Window row{part.origin, part.origin};
  for (int a = 0; a < rank; ++a) row.end[a] += a < outer ? 1 : part.shape[a];
  std::vector<T> elements(static_cast<size_t>(row.shape().volume()));
  const int64_t last = rank ? part.shape[rank - 1] : 1;
  const auto value = [&](int64_t k) {
    if (values.size() == 1) return values[0];
    const int64_t c = part.origin[axis] + (axis == rank - 1 ? k % last : k / last);
    return values[static_cast<size_t>(c)];
  };
  for (size_t k = 0; k < elements.size(); ++k) elements[k] = value(static_cast<int64_t>(k));
  View pattern = View::window(elements.data(), out.dtype, row, out.full);
  for (int a = 0; a < outer; ++a) pattern.strides[a] = 0;
  map<T, T>(part, Same<T>{}, pattern);
}

// Sets the elements of the boxes to values[0] or, if there are several, to those of their channels.
// Values are rounded and saturate.
inline void fill_boxes(const View& out, std::span<const Window> boxes,
                       std::span<const float> values) {
  with_type(out.dtype, [&](auto v) {
    const auto numbers = converted<decltype(v)>(values);
    for (const Window& w : boxes) fill_box(out, w, numbers, out.layout.find('C'));
  });
}

}  // namespace stoker
