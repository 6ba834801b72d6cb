// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests only: arrays, random chains of blocks, and the blocks' definitions value by value. One thread at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/view.h"
#include "kernels/block.h"
#include "kernels/convert.h"
#include "kernels/fixed_point.h"
#include "kernels/taps.h"

namespace stoker::testing {

// A dense array that owns its bytes.
struct Array {
  TensorType type;
  std::vector<std::byte> bytes;

  explicit Array(const TensorType& t) : type(t), bytes(static_cast<size_t>(t.shape.volume()) * size_of(t.dtype)) {}
  View view() const { return View::dense(const_cast<std::byte*>(bytes.data()), type.dtype, type.shape, type.layout); }
  bool operator==(const Array& o) const { return type == o.type && bytes == o.bytes; }
  const std::byte* at(const Shape& p) const { return const_cast<Array*>(this)->at(p); }
  std::byte* at(const Shape& p) {
    int64_t i = 0;
    for (int a = 0; a < p.rank; ++a) i = i * type.shape[a] + p[a];
    return bytes.data() + i * size_of(type.dtype);
  }
};

// Calls f(position) for every position of the window.
template <class F>
void for_each(const Window& w, F&& f) {
  Shape p = w.begin;
  for (;;) {
    f(p);
    int a = p.rank - 1;
    for (; a >= 0; --a) {
      if (++p[a] < w.end[a]) break;
      p[a] = w.begin[a];
    }
    if (a < 0) return;
  }
}

inline float list_entry(const Small<float>& l, const Layout& layout, const Shape& p, float fallback) {
  if (l.empty()) return fallback;
  const int c = layout.find('C');
  return c < 0 || l.size() == 1 ? l[0] : l[static_cast<size_t>(p[c])];
}

inline void convert_value(const std::byte* in, DType from, std::byte* out, DType to) { convert_row(in, from, out, to, 1); }

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
  for_each(Window::all(out.type.shape),
           [&](const Shape& p) { convert_value(in.at(p), in.type.dtype, out.at(p), out.type.dtype); });
}

inline void naive_kind(const Pointwise& w, const Array& in, Array& out) {
  for_each(Window::all(out.type.shape), [&](const Shape& p) {
    const Layout& l = in.type.layout;
    pointwise_row(in.at(p), in.type.dtype, out.at(p), out.type.dtype, 1, list_entry(w.sub, l, p, 0),
                  list_entry(w.mul, l, p, 1), list_entry(w.add, l, p, 0));
  });
}

// One value of one axis: T is the arithmetic, values are those of the axes before.
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
      const T term = static_cast<T>(weights[static_cast<size_t>(i - r.begin)]) * in[index(shape, q)];
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

// Sums of 64 bits and divisions: nothing of the fast form but the weights.
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
      next[index(made, p)] = std::clamp<int64_t>(static_cast<int64_t>(std::floor(static_cast<double>(sum) / unit + 0.5)),
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
      if (!is_identity(r.axis[i], in.type.shape[a])) q[a] = tap_range(r.axis[i], in.type.shape[a], p[a]).begin;
    }
    convert_value(in.at(q), in.type.dtype, out.at(p), out.type.dtype);
  });
}

inline void naive_kind(const Resample& r, const Array& in, Array& out) {
  bool computes = false;
  for (int i = 0; i < r.count; ++i)
    computes = computes || (r.axis[i].filter != Filter::kNearest && !is_identity(r.axis[i], in.type.shape[r.axis[i].axis]));
  if (!computes) return naive_selection(r, in, out);
  if (in.type.dtype == DType::kUint8 && out.type.dtype == DType::kUint8) return naive_fixed(r, in, out);
  if (is_wide(in.type.dtype) || is_wide(out.type.dtype)) return naive_resample<double>(r, in, out);
  naive_resample<float>(r, in, out);
}

inline Array naive(const Block& b, const Array& in) {
  Array out(after(b, in.type));
  std::visit([&](auto& kind) { naive_kind(kind, in, out); }, b.kind);
  return out;
}

// A window of an array in memory with gaps, permuted axes and negative strides.
struct Scattered {
  std::vector<std::byte> memory;
  std::vector<bool> used;
  View view;

  std::byte* at(const Shape& p) const {
    int64_t o = 0;
    for (int a = 0; a < p.rank; ++a) o += (p[a] - view.origin[a]) * view.strides[a];
    return static_cast<std::byte*>(view.data) + o;
  }
  void take(const Array& from) {
    for_each(view.covers(), [&](const Shape& p) { std::memcpy(at(p), from.at(p), size_of(view.dtype)); });
  }
  bool holds(const Array& a) const {
    bool same = true;
    for_each(view.covers(), [&](const Shape& p) { same = same && !std::memcmp(at(p), a.at(p), size_of(view.dtype)); });
    return same;
  }
  bool nothing_else_written() const {
    for (size_t i = 0; i < memory.size(); ++i)
      if (!used[i] && memory[i] != std::byte{0xA5}) return false;
    return true;
  }
};

class ChainMaker {
 public:
  explicit ChainMaker(uint32_t seed) : rng_(seed) {}

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(rng_); }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  bool one_in(int n) { return pick(1, n) == 1; }
  DType dtype() {
    if (one_in(3)) return DType::kUint8;
    return static_cast<DType>(pick(0, 11));
  }

  Array input() {
    static const char* const layouts[] = {"HWC", "HWC", "HWC", "CHW", "HW", "FHWC", "DHWC", "", "", "C", "W", "CDHW"};
    TensorType t;
    t.layout = layouts[pick(0, 11)];
    t.dtype = dtype();
    const int rank = t.layout.empty() ? static_cast<int>(pick(1, 4)) : t.layout.rank();
    for (int a = 0; a < rank; ++a) {
      const char letter = t.layout.letters[a];
      const int64_t most = letter == 'F' || letter == 'D' ? 4 : rank == 4 ? 12 : one_in(4) ? 60 : 25;
      t.shape.push_back(letter == 'C' && !one_in(8) ? pick(1, 4) : pick(1, most));
    }
    Array a(t);
    for_each(Window::all(t.shape), [&](const Shape& p) { set(a.at(p), t.dtype); });
    return a;
  }

  std::vector<Block> chain(TensorType t, int64_t blocks) {
    std::vector<Block> made;
    for (int64_t i = 0; i < blocks; ++i) {
      made.push_back(block(t));
      t = after(made.back(), t);
    }
    return made;
  }

  Window window(const Shape& full) {
    Window w = Window::all(full);
    for (int a = 0; a < full.rank; ++a) {
      if (one_in(2)) continue;
      w.begin[a] = pick(0, full[a] - 1);
      w.end[a] = pick(w.begin[a] + 1, full[a]);
    }
    return w;
  }

  Scattered scattered(const TensorType& t, const Window& w) {
    Scattered s;
    const int rank = w.begin.rank;
    std::vector<int> order;
    for (int a = rank - 1; a >= 0; --a) order.push_back(a);
    if (one_in(3)) std::shuffle(order.begin(), order.end(), rng_);
    s.view = View::window(nullptr, t.dtype, w, t.shape, t.layout);
    int64_t stride = size_of(t.dtype), start = 0;
    const bool gaps = one_in(2), mirrors = one_in(3);
    for (int a : order) {
      if (gaps && one_in(3)) stride += size_of(t.dtype) * pick(1, 3);
      const int64_t extent = s.view.shape[a];
      s.view.strides[a] = stride;
      if (mirrors && one_in(2)) {
        s.view.strides[a] = -stride;
        start += stride * (extent - 1);
      }
      stride *= extent;
    }
    s.memory.assign(static_cast<size_t>(stride), std::byte{0xA5});
    s.used.assign(s.memory.size(), false);
    s.view.data = s.memory.data() + start;
    for_each(w, [&](const Shape& p) {
      for (int i = 0; i < size_of(t.dtype); ++i) s.used[static_cast<size_t>(s.at(p) - s.memory.data() + i)] = true;
    });
    return s;
  }

 private:
  void set(std::byte* to, DType t) {
    if (!info(t).is_float) {
      for (int i = 0; i < size_of(t); ++i) to[i] = std::byte(pick(0, 255));
      if (size_of(t) > 2 && one_in(2)) std::memset(to + 2, 0, static_cast<size_t>(size_of(t) - 2));
      return;
    }
    double v = real(-300, 300);
    if (one_in(4)) v = std::floor(v) + 0.5;
    if (one_in(10)) v *= 1e-6;
    if (one_in(20)) v *= 1e3;
    if (one_in(50)) v = 0;
    convert_row(&v, DType::kFloat64, to, t, 1);
  }

  Small<float> list(const TensorType& t, float low, float high) {
    Small<float> l;
    const int c = t.layout.find('C');
    const int64_t n = c >= 0 && !one_in(3) ? t.shape[c] : 1;
    for (int64_t i = 0; i < n; ++i) l.push_back(static_cast<float>(one_in(3) ? std::floor(real(low, high)) : real(low, high)));
    return l;
  }

  DType result(DType in) { return one_in(2) ? in : dtype(); }

  Block block(const TensorType& t) {
    switch (pick(0, 7)) {
      case 0: case 1: case 2: return {gather(t), one_in(5) ? dtype() : t.dtype};
      case 3: return {resample(t), result(t.dtype)};
      case 4: case 5: return pointwise(t);
      case 6: return {Convert{}, dtype()};
      default: return store(t);
    }
  }

  Gather gather(const TensorType& t) {
    Gather g = Gather::identity(t.shape);
    for (int a = 0; a < t.shape.rank; ++a) {
      AxisMap& m = g.axis[a];
      const int64_t n = t.shape[a];
      switch (pick(0, 6)) {
        case 0: m = {n - 1, -1, n}; break;
        case 1: m.start = pick(0, n - 1), m.extent = pick(1, n - m.start); break;
        case 2: m = {pick(0, n - 1), one_in(2) ? 2 : -2, pick(1, n)}; break;
        case 3: m = {pick(-4, n + 2), one_in(2) ? 1 : -1, pick(1, n + 6)}; break;
        default: break;
      }
    }
    TensorType next = t;
    for (int a = 0; a < t.shape.rank; ++a) next.shape[a] = g.axis[a].extent;
    g.fill = list(next, -20, 280);
    return g;
  }

  ResampleAxis axis(int a, int64_t extent) {
    ResampleAxis x{a, pick(1, one_in(3) ? 50 : 20), 0, static_cast<double>(extent), static_cast<Filter>(pick(0, 5)), 1};
    if (one_in(6)) x.out = extent;
    if (one_in(2)) {
      x.lo = real(-1, static_cast<double>(extent) / 2);
      x.hi = x.lo + real(0.5, static_cast<double>(extent));
    }
    if (one_in(3)) std::swap(x.lo, x.hi);
    const double support = x.filter == Filter::kLanczos3 ? 3 : x.filter == Filter::kLinear || x.filter == Filter::kTriangular ? 1 : 2;
    const double scale = std::abs(x.hi - x.lo) / static_cast<double>(x.out);
    x.radius = support * (one_in(6) ? real(0.1, 2) : std::max(1.0, scale));
    return x;
  }

  Resample resample(const TensorType& t) {
    Resample r;
    for (int a = 0; a < t.shape.rank && r.count < 3; ++a) {
      const char letter = t.layout.letters[a];
      const bool usual = letter == 'H' || letter == 'W' || letter == 'D';
      if (usual ? !one_in(5) : one_in(8)) r.axis[r.count++] = axis(a, t.shape[a]);
    }
    if (r.count == 0) r.axis[r.count++] = axis(0, t.shape[0]);
    return r;
  }

  Block pointwise(const TensorType& t) {
    Pointwise p;
    if (!one_in(3)) p.sub = list(t, -3, 150);
    if (!one_in(3)) p.mul = list(t, -2, 2);
    if (!one_in(3)) p.add = list(t, -50, 50);
    return {p, result(t.dtype)};
  }

  Block store(const TensorType& t) {
    Store s;
    std::shuffle(s.perm, s.perm + t.shape.rank, rng_);
    TensorType next = t;
    for (int a = 0; a < t.shape.rank; ++a) {
      next.shape[a] = t.shape[s.perm[a]];
      if (!t.layout.empty()) next.layout.letters[a] = t.layout.letters[s.perm[a]];
    }
    if (one_in(2)) {
      s.pad_axis = static_cast<int>(pick(0, t.shape.rank - 1));
      s.pad_to = next.shape[s.pad_axis] + pick(0, 3);
      next.shape[s.pad_axis] = s.pad_to;
    }
    s.fill = list(next, -20, 280);
    s.layout = next.layout;
    return {s, result(t.dtype)};
  }

  std::mt19937 rng_;
};

inline std::string describe(const TensorType& in, std::span<const Block> blocks) {
  std::string text = in.str();
  static const char* const names[] = {"Gather", "Resample", "Pointwise", "Convert", "Store"};
  TensorType t = in;
  for (const Block& b : blocks) {
    t = after(b, t);
    text += " -> ";
    text += names[b.kind.index()];
    if (auto* r = std::get_if<Resample>(&b.kind))
      for (int i = 0; i < r->count; ++i)
        text += " [" + std::to_string(r->axis[i].axis) + " filter " + std::to_string(static_cast<int>(r->axis[i].filter)) + "]";
    text += " " + t.str();
  }
  return text;
}

}  // namespace stoker::testing
