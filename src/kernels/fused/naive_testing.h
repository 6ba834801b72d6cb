// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests only: the definitions of the blocks, value by value. One thread at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/fused/fused_testing.h"
#include "kernels/resample/taps.h"

namespace stoker::testing {

inline float list_entry(const Small<float>& l, const Layout& layout, const Shape& p,
                        float fallback) {
  if (l.empty()) return fallback;
  const int c = layout.find('C');
  return c < 0 || l.size() == 1 ? l[0] : l[static_cast<size_t>(p[c])];
}

inline void convert_value(const std::byte* in, DType from, std::byte* out, DType to) {
  convert_row(in, from, out, to, 1);
}

inline void naive_kind(const Gather& g, const Array& in, Array& out) {
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    Shape q = p;
    bool inside = true;
    for (int a = 0; a < p.rank; ++a) {
      q[a] = g.axis[a].start + g.axis[a].step * p[a];
      inside = inside && q[a] >= 0 && q[a] < in.type.shape[a];
    }
    const float fill = list_entry(g.fill, out.type.layout, p, 0);
    if (inside) convert_value(in.at(q), in.type.dtype, out.at(p), out.type.dtype);
    else convert_row(&fill, DType::kFloat32, out.at(p), out.type.dtype, 1);
  });
}

inline void naive_kind(const Store& s, const Array& in, Array& out) {
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    Shape q = p;
    bool inside = true;
    for (int a = 0; a < p.rank; ++a) {
      q[s.perm[a]] = p[a];
      inside = inside && p[a] < in.type.shape[s.perm[a]];
    }
    const float fill = list_entry(s.fill, out.type.layout, p, 0);
    if (inside) convert_value(in.at(q), in.type.dtype, out.at(p), out.type.dtype);
    else convert_row(&fill, DType::kFloat32, out.at(p), out.type.dtype, 1);
  });
}

inline void naive_kind(const Convert&, const Array& in, Array& out) {
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    convert_value(in.at(p), in.type.dtype, out.at(p), out.type.dtype);
  });
}

inline void naive_kind(const Pointwise& w, const Array& in, Array& out) {
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    const Layout& l = in.type.layout;
    pointwise_row(in.at(p), in.type.dtype, out.at(p), out.type.dtype, 1, list_entry(w.sub, l, p, 0),
                  list_entry(w.mul, l, p, 1), list_entry(w.add, l, p, 0));
  });
}

// Resamples one axis. T is the type of the arithmetic; `in` holds what the axes before made.
template <class T>
std::vector<T> naive_axis(const ResampleAxis& x, std::vector<T> in, Shape& shape) {
  Shape made = shape;
  made[x.axis] = x.out;
  std::vector<T> out(static_cast<size_t>(made.volume()));
  const auto index = [](const Shape& s, const Shape& p) {
    int64_t i = 0;
    for (int a = 0; a < p.rank; ++a) i = i * s[a] + p[a];
    return static_cast<size_t>(i);
  };
  std::vector<double> weights(static_cast<size_t>(most_taps(x, shape[x.axis])));
  for_each(Window::all(made), [&](const Shape& p) {
    const TapRange r = taps_of(x, shape[x.axis], p[x.axis], weights.data());
    T sum{};
    for (int64_t i = r.begin; i < r.end; ++i) {
      Shape q = p;
      q[x.axis] = i;
      const T term =
          static_cast<T>(weights[static_cast<size_t>(i - r.begin)]) * in[index(shape, q)];
      sum = i == r.begin ? term : sum + term;
    }
    out[index(made, p)] = sum;
  });
  shape = made;
  return out;
}

template <class T>
void naive_resample(const Resample& r, const Array& in, Array& out) {
  std::vector<T> v(static_cast<size_t>(in.type.shape.volume()));
  const DType type = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  convert_row(in.bytes.data(), in.type.dtype, v.data(), type, in.type.shape.volume());
  Shape shape = in.type.shape;
  for (int i = 0; i < r.count; ++i)
    if (!is_identity(r.axis[i], shape[r.axis[i].axis])) v = naive_axis(r.axis[i], v, shape);
  convert_row(v.data(), type, out.bytes.data(), out.type.dtype, shape.volume());
}

// Sums in 64 bits and divides, and so shares nothing with the fast form but the weights.
inline void naive_fixed(const Resample& r, const Array& in, Array& out) {
  Shape shape = in.type.shape;
  std::vector<int64_t> v;
  for (std::byte b : in.bytes) v.push_back(64 * std::to_integer<int64_t>(b));
  std::vector<ResampleAxis> axes;
  for (int i = 0; i < r.count; ++i)
    if (!is_identity(r.axis[i], shape[r.axis[i].axis])) axes.push_back(r.axis[i]);
  for (const ResampleAxis& x : axes) {
    Shape made = shape;
    made[x.axis] = x.out;
    std::vector<int64_t> next(static_cast<size_t>(made.volume()));
    const auto index = [](const Shape& s, const Shape& p) {
      int64_t i = 0;
      for (int a = 0; a < p.rank; ++a) i = i * s[a] + p[a];
      return static_cast<size_t>(i);
    };
    std::vector<double> weights(static_cast<size_t>(most_taps(x, shape[x.axis])));
    std::vector<int16_t> fixed(weights.size());
    for_each(Window::all(made), [&](const Shape& p) {
      const TapRange t = taps_of(x, shape[x.axis], p[x.axis], weights.data());
      const auto n = static_cast<size_t>(t.end - t.begin);
      quantise({weights.data(), n}, fixed.data());
      int64_t sum = 0;
      for (size_t i = 0; i < n; ++i) {
        Shape q = p;
        q[x.axis] = t.begin + static_cast<int64_t>(i);
        sum += fixed[i] * v[index(shape, q)];
      }
      const bool last = &x == &axes.back();
      const double unit = last ? 1 << 20 : 1 << 14;
      next[index(made, p)] = std::clamp<int64_t>(
          static_cast<int64_t>(std::floor(static_cast<double>(sum) / unit + 0.5)),
          last ? 0 : -32768, last ? 255 : 32767);
    });
    v = next;
    shape = made;
  }
  for (size_t i = 0; i < v.size(); ++i) out.bytes[i] = std::byte(axes.empty() ? v[i] / 64 : v[i]);
}

inline void naive_selection(const Resample& r, const Array& in, Array& out) {
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    Shape q = p;
    for (int i = 0; i < r.count; ++i) {
      const int a = r.axis[i].axis;
      if (!is_identity(r.axis[i], in.type.shape[a]))
        q[a] = tap_range(r.axis[i], in.type.shape[a], p[a]).begin;
    }
    convert_value(in.at(q), in.type.dtype, out.at(p), out.type.dtype);
  });
}

inline void naive_kind(const Resample& r, const Array& in, Array& out) {
  bool computes = false;
  for (int i = 0; i < r.count; ++i)
    computes = computes || (r.axis[i].filter != Filter::kNearest &&
                            !is_identity(r.axis[i], in.type.shape[r.axis[i].axis]));
  if (!computes) return naive_selection(r, in, out);
  if (in.type.dtype == DType::kUint8 && out.type.dtype == DType::kUint8)
    return naive_fixed(r, in, out);
  if (is_wide(in.type.dtype) || is_wide(out.type.dtype)) return naive_resample<double>(r, in, out);
  naive_resample<float>(r, in, out);
}

inline Array naive(const Block& b, const Array& in) {
  Array out(after(b, in.type));
  std::visit([&](auto& kind) { naive_kind(kind, in, out); }, b.kind);
  return out;
}

}  // namespace stoker::testing
