// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: the definitions of the blocks, value by value.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/fused/fused_testing.h"
#include "kernels/resample/taps.h"
#include "kernels/rows/mix.h"
#include "kernels/warp/place_filter.h"
#include "kernels/warp/warp_map.h"

namespace stoker::test {

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
                  list_entry(w.mul, l, p, 1), list_entry(w.add, l, p, 0),
                  list_entry(w.div, l, p, 1));
  });
}

inline void naive_kind(const Table& t, const Array& in, Array& out) {
  const TableLists& l = *t.lists;
  const int c = in.type.layout.find('C');
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    int64_t v;  // a uint64 beyond all lists saturates
    convert_row(in.at(p), in.type.dtype, &v, DType::kInt64, 1);
    const int64_t list = c < 0 || l.lists == 1 ? 0 : p[c];
    const int64_t i = list * (l.entries + 1) + (v < 0 || v >= l.entries ? l.entries : v);
    std::memcpy(out.at(p), l.bytes.data() + i * size_of(l.dtype), size_of(l.dtype));
  });
}

template <class A>
void naive_mix(const Channels& m, const Array& in, Array& out) {
  const DType type = sizeof(A) == 4 ? DType::kFloat32 : DType::kFloat64;
  const int c = in.type.layout.find('C');
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    A sum{};
    for (int k = 0; k < m.in; ++k) {
      Shape q = p;
      q[c] = k;
      A v;
      convert_row(in.at(q), in.type.dtype, &v, type, 1);
      const A term = static_cast<A>(m.weight[p[c]][k]) * v;
      sum = k == 0 ? term : sum + term;
    }
    sum = sum + static_cast<A>(m.offset[p[c]]);
    convert_row(&sum, type, out.at(p), out.type.dtype, 1);
  });
}
// Sums in 64 bits and divides, and so shares nothing with the fast form but the weights.
inline void naive_fixed_mix(const ChannelMix& m, const Array& in, Array& out) {
  const int c = in.type.layout.find('C');
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    int64_t sum = m.fixed_offset[p[c]];
    for (int k = 0; k < m.in; ++k) {
      Shape q = p;
      q[c] = k;
      sum += int64_t{m.fixed_weight[p[c]][k]} * std::to_integer<int64_t>(*in.at(q));
    }
    const double level = std::floor(static_cast<double>(sum) / (1 << m.shift) + 0.5);
    *out.at(p) = std::byte(static_cast<int>(std::clamp(level, 0.0, 255.0)));
  });
}
inline void naive_kind(const Channels& m, const Array& in, Array& out) {
  const DType from = in.type.dtype, to = out.type.dtype;
  const ChannelMix mix = channel_mix(m, from, to);
  if (mix.fixed) return naive_fixed_mix(mix, in, out);
  if (is_wide(from) || is_wide(to)) return naive_mix<double>(m, in, out);
  naive_mix<float>(m, in, out);
}

// Resamples one axis, in arithmetic of type T. `in` holds what the axes before made.
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
    const TapInterval r = taps_of(x, shape[x.axis], p[x.axis], weights.data());
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
      const TapInterval t = taps_of(x, shape[x.axis], p[x.axis], weights.data());
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
        q[a] = tap_interval(r.axis[i], in.type.shape[a], p[a]).begin;
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

// The position whose value a position outside shows, or -1.
inline int64_t naive_bordered(int64_t p, int64_t n, Border border) {
  const auto rest = [&](int64_t period) { return (p % period + period) % period; };
  switch (border) {
    case Border::kClamp: return std::clamp<int64_t>(p, 0, n - 1);
    case Border::kWrap: return rest(n);
    case Border::kReflect1001: return std::min(rest(2 * n), 2 * n - 1 - rest(2 * n));
    case Border::kReflect101:
      return n == 1 ? 0 : std::min(rest(2 * n - 2), 2 * n - 2 - rest(2 * n - 2));
    default: return p >= 0 && p < n ? p : -1;
  }
}

inline void naive_fill(const Warp& w, const TensorType& out, const Shape& p, std::byte* fill) {
  const float v = list_entry(w.fill, out.layout, p, 0);
  convert_row(&v, DType::kFloat32, fill, out.dtype, 1);
}

// The value at position `tap` of the warped axes and at `p` of the others, as A.
template <class A>
A naive_tap(const Warp& w, const Array& in, const TensorType& result, const Shape& p,
            const int64_t* tap, DType type) {
  Shape q = p;
  bool inside = true;
  for (int i = 0; i < w.count; ++i) {
    q[w.axis[i]] = naive_bordered(tap[i], in.type.shape[w.axis[i]], w.border);
    inside = inside && q[w.axis[i]] >= 0;
  }
  A v;
  std::byte fill[8];
  naive_fill(w, result, p, fill);
  if (inside) convert_row(in.at(q), in.type.dtype, &v, type, 1);
  else convert_row(fill, result.dtype, &v, type, 1);
  return v;
}

inline int64_t naive_perspective(const Warp& w, int i, const Shape& p) {
  double top = w.offset[i], divisor = w.divisor_offset;
  for (int j = 0; j < w.count; ++j) {
    const double centre = static_cast<double>(p[w.axis[j]]) + 0.5;
    top += w.matrix[i][j] * centre;
    divisor += w.divisor[j] * centre;
  }
  const double place = top * (1 / divisor), far = 0x1p28;
  const double cut = place >= far ? far : place > -far ? place : -far;  // also a NaN
  return std::llrint(cut * 0x1p32) - (w.is_between() ? int64_t{1} << 31 : 0);
}

struct NaivePlace {
  int64_t whole;
  double fraction;
};
inline NaivePlace naive_place(const Warp& w, const WarpMap& map, int i, const Shape& p) {
  int64_t place = map.start[i];
  for (int j = 0; j < w.count; ++j) place += map.step[i][j] * p[w.axis[j]];
  if (w.has_perspective()) place = naive_perspective(w, i, p);
  const int64_t unit = int64_t{1} << 32;
  const int64_t rest = (place % unit + unit) % unit;
  return {(place - rest) / unit, static_cast<double>(rest) / 0x1p32};
}

// For int64_t, A is the fixed-point form, computed with divisions.
template <class A>
A naive_mean(A a, A b, double fraction) {
  if constexpr (std::is_same_v<A, int64_t>) {
    const double part = std::floor(fraction * 32768) / 32768;
    return a + static_cast<int64_t>(std::floor(static_cast<double>(b - a) * part + 0.5));
  } else {
    const A part =
        static_cast<A>(sizeof(A) == 4 ? std::floor(fraction * 0x1p24) / 0x1p24 : fraction);
    if (part == 0 || a == b) return a;
    const A low = a * (1 - part), high = b * part;
    return low + high;
  }
}

template <class A>
void naive_warp(const Warp& w, const Array& in, Array& out) {
  const WarpMap map = warp_map(w);
  const DType type = std::is_same_v<A, int64_t> ? DType::kInt64
                     : sizeof(A) == 4           ? DType::kFloat32
                                                : DType::kFloat64;
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    NaivePlace at[Warp::kMost];
    for (int i = 0; i < w.count; ++i) at[i] = naive_place(w, map, i, p);
    A v[1 << Warp::kMost];
    for (int corner = 0; corner < 1 << w.count; ++corner) {
      int64_t tap[Warp::kMost];
      for (int i = 0; i < w.count; ++i) tap[i] = at[i].whole + (corner >> (w.count - 1 - i) & 1);
      v[corner] = naive_tap<A>(w, in, out.type, p, tap, type);
      if constexpr (std::is_same_v<A, int64_t>) v[corner] *= 128;
    }
    for (int i = w.count - 1; i >= 0; --i)
      for (int k = 0; k < 1 << i; ++k) v[k] = naive_mean<A>(v[2 * k], v[2 * k + 1], at[i].fraction);
    if constexpr (std::is_same_v<A, int64_t>) v[0] = (v[0] + 64) / 128;
    convert_row(v, type, out.at(p), out.type.dtype, 1);
  });
}

template <class A>
void naive_cubic(const Warp& w, const Array& in, Array& out) {
  const WarpMap map = warp_map(w);
  const DType type = sizeof(A) == 4 ? DType::kFloat32 : DType::kFloat64;
  const auto taps = [&](int i, const Shape& p) {
    const NaivePlace at = naive_place(w, map, i, p);
    const auto bits = static_cast<int64_t>(at.fraction * 0x1p32);
    return PlaceTaps(at.whole * (int64_t{1} << 32) + bits, Filter::kCubic, -0.75);
  };
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    const PlaceTaps y = taps(0, p), x = taps(1, p);
    bool shows = false;
    A sum = 0;
    for (int i = 0; i < y.count; ++i) {
      A row = 0;
      for (int j = 0; j < x.count; ++j) {
        const int64_t tap[] = {y.first + i, x.first + j};
        bool inside = true;
        for (int k = 0; k < 2; ++k)
          inside = inside && naive_bordered(tap[k], in.type.shape[w.axis[k]], w.border) >= 0;
        shows = shows || inside;
        row += static_cast<A>(x.weight[j]) * naive_tap<A>(w, in, out.type, p, tap, type);
      }
      sum += static_cast<A>(y.weight[i]) * row;
    }
    if (shows) convert_row(&sum, type, out.at(p), out.type.dtype, 1);
    else naive_fill(w, out.type, p, out.at(p));
  });
}

inline void naive_kind(const Warp& w, const Array& in, Array& out) {
  const DType from = in.type.dtype, to = out.type.dtype;
  const bool linear = w.filter == Filter::kLinear, wide = is_wide(from) || is_wide(to);
  if (w.filter == Filter::kCubic)
    return wide ? naive_cubic<double>(w, in, out) : naive_cubic<float>(w, in, out);
  if (linear && from == DType::kUint8 && to == DType::kUint8)
    return naive_warp<int64_t>(w, in, out);
  if (linear) return wide ? naive_warp<double>(w, in, out) : naive_warp<float>(w, in, out);
  const WarpMap map = warp_map(w);
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    Shape q = p;
    bool inside = true;
    for (int i = 0; i < w.count; ++i) {
      const int a = w.axis[i];
      q[a] = naive_bordered(naive_place(w, map, i, p).whole, in.type.shape[a], w.border);
      inside = inside && q[a] >= 0;
    }
    if (inside) convert_value(in.at(q), from, out.at(p), to);
    else naive_fill(w, out.type, p, out.at(p));
  });
}

inline Array naive(const Block& b, const Array& in) {
  Array out(after(b, in.type));
  std::visit([&](auto& kind) { naive_kind(kind, in, out); }, b.kind);
  return out;
}

}  // namespace stoker::test
