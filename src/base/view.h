// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A piece of a sample in memory that someone else owns.
#pragma once
#include "base/types.h"

namespace stoker {

// The window that begins at `origin` in a tensor of shape `full`. Strides are in bytes and may be
// negative. The element at full position p lies at data, plus (p[a] - origin[a]) * strides[a] for
// each axis a.
struct View {
  void* data = nullptr;
  DType dtype = DType::kUint8;
  Layout layout;
  Shape shape, strides, origin, full;

  static View dense(void* data, DType dtype, const Shape& shape, Layout layout = {}) {
    return window(data, dtype, Window::all(shape), shape, layout);
  }
  // A view of dense memory that holds only the window `w` of a tensor of shape `full`.
  static View window(void* data, DType dtype, const Window& w, const Shape& full,
                     Layout layout = {}) {
    View v;
    v.data = data;
    v.dtype = dtype;
    v.layout = layout;
    v.shape = w.shape();
    v.origin = w.begin;
    v.full = full;
    v.strides = dense_strides(v.shape, size_of(dtype));
    return v;
  }
  static Shape dense_strides(const Shape& shape, int64_t element) {
    Shape s = Shape::filled(shape.rank, element);
    for (int a = shape.rank - 2; a >= 0; --a) s[a] = s[a + 1] * shape[a + 1];
    return s;
  }

  // Position `f` of the first axis (in full coordinates), as a view with one axis less. Requires:
  // the view covers f.
  View frame(int64_t f) const {
    View v = *this;
    v.data = static_cast<char*>(data) + (f - origin[0]) * strides[0];
    for (Shape* s : {&v.shape, &v.strides, &v.origin, &v.full}) *s = without_first(*s);
    if (!layout.empty()) v.layout = layout.str().substr(1);
    return v;
  }
  static Shape without_first(const Shape& s) {
    Shape r;
    for (int a = 1; a < s.rank; ++a) r.push_back(s[a]);
    return r;
  }

  Window covers() const {
    Window w{origin, origin};
    for (int a = 0; a < shape.rank; ++a) w.end[a] += shape[a];
    return w;
  }
  int64_t bytes() const { return shape.volume() * size_of(dtype); }
  bool is_dense() const {
    const Shape want = dense_strides(shape, size_of(dtype));
    for (int a = 0; a < shape.rank; ++a)
      if (shape[a] > 1 && strides[a] != want[a]) return false;
    return true;
  }
  bool is_whole() const { return shape == full; }
  // The type of the tensor that this is a window of.
  TensorType whole() const { return {dtype, layout, full}; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

}  // namespace stoker
