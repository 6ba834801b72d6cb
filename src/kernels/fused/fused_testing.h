// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: arrays in any memory layout, and random lists of blocks.
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

namespace stoker::test {

struct Array {
  TensorType type;
  std::vector<std::byte> bytes;

  explicit Array(const TensorType& t)
      : type(t), bytes(static_cast<size_t>(t.shape.volume()) * size_of(t.dtype)) {}
  View view() const {
    return View::dense(const_cast<std::byte*>(bytes.data()), type.dtype, type.shape, type.layout);
  }
  bool operator==(const Array& o) const { return type == o.type && bytes == o.bytes; }
  const std::byte* at(const Shape& p) const { return const_cast<Array*>(this)->at(p); }
  std::byte* at(const Shape& p) {
    int64_t i = 0;
    for (int a = 0; a < p.rank; ++a) i = i * type.shape[a] + p[a];
    return bytes.data() + i * size_of(type.dtype);
  }
};

template <class F>
void for_each(const Window& w, F&& f) {
  if (w.shape().volume() == 0) return;
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
    for_each(view.covers(),
             [&](const Shape& p) { std::memcpy(at(p), from.at(p), size_of(view.dtype)); });
  }
  bool holds(const Array& a) const {
    bool same = true;
    for_each(view.covers(), [&](const Shape& p) {
      same = same && !std::memcmp(at(p), a.at(p), size_of(view.dtype));
    });
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
  // Extents are at least `least`, which is 1 or 0. With 0, many are 0 or 1.
  explicit ChainMaker(uint32_t seed, int64_t least = 1) : rng_(seed), least_(least) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng_);
  }
  bool one_in(int n) { return pick(1, n) == 1; }
  DType dtype() {
    if (one_in(3)) return DType::kUint8;
    return static_cast<DType>(pick(0, 11));
  }

  Array input() {
    static const char* const layouts[] = {"HWC",  "HWC", "HWC", "CHW", "HW", "FHWC",
                                          "DHWC", "",    "",    "C",   "W",  "CDHW"};
    TensorType t;
    t.layout = layouts[pick(0, 11)];
    t.dtype = dtype();
    const int rank = t.layout.empty() ? static_cast<int>(pick(1, 4)) : t.layout.rank();
    for (int a = 0; a < rank; ++a) {
      const char letter = t.layout.letters[a];
      const int64_t most = letter == 'F' || letter == 'D' ? 4
                           : rank == 4                    ? 12
                           : one_in(4)                    ? 60
                                                          : 25;
      t.shape.push_back(extent(letter == 'C' && !one_in(8) ? 4 : most));
    }
    Array a(t);
    fill(a);
    return a;
  }
  void fill(Array& a) {
    for_each(Window::all(a.type.shape), [&](const Shape& p) { set(a.at(p), a.type.dtype); });
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
      if (full[a] == 0 || one_in(2)) continue;
      w.begin[a] = pick(0, full[a] - 1);
      w.end[a] = pick(w.begin[a] + least_, full[a]);
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
      const int64_t extent =
          std::max<int64_t>(s.view.shape[a], 1);  // memory also where it is empty
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
      for (int i = 0; i < size_of(t.dtype); ++i)
        s.used[static_cast<size_t>(s.at(p) - s.memory.data() + i)] = true;
    });
    return s;
  }

  void show(Warp& w, const TensorType& t) {
    w.filter = one_in(4) ? Filter::kNearest : Filter::kLinear;
    if (w.count == 2 && one_in(4)) w.filter = Filter::kCubic;
    w.border = one_in(3) ? Border::kClamp : one_in(2) ? Border::kConstant : Border(pick(0, 4));
    w.fill = list(after(Block{w, t.dtype}, t), -20, 280);
  }

 private:
  int64_t extent(int64_t most) { return least_ == 0 && one_in(3) ? pick(0, 1) : pick(1, most); }

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
    for (int64_t i = 0; i < n; ++i)
      l.push_back(static_cast<float>(one_in(3) ? std::floor(real(low, high)) : real(low, high)));
    return l;
  }

  DType result(DType in) { return one_in(2) ? in : dtype(); }

  Block block(const TensorType& t) {
    switch (pick(0, 10)) {
      case 10:
        if (t.shape.volume() == 0) return {gather(t), t.dtype};
        return {warp(t), result(t.dtype)};
      case 0:
      case 1:
      case 2: return {gather(t), one_in(5) ? dtype() : t.dtype};
      case 3:
        if (t.shape.volume() == 0) return {gather(t), t.dtype};
        return {resample(t), result(t.dtype)};
      case 4:
      case 5: return pointwise(t);
      case 6: return {Convert{}, dtype()};
      case 8: {
        const int c = t.layout.find('C');
        if (c >= 0 && t.shape[c] >= 1 && t.shape[c] <= Channels::kMost) return channels(t);
        return pointwise(t);
      }
      case 7:
        if (!info(t.dtype).is_float) return table(t);
        return pointwise(t);
      default: return store(t);
    }
  }

  Gather gather(const TensorType& t) {
    Gather g = Gather::identity(t.shape);
    for (int a = 0; a < t.shape.rank; ++a) {
      AxisMap& m = g.axis[a];
      const int64_t n = t.shape[a], last = std::max<int64_t>(n - 1, 0);
      switch (pick(0, 6)) {
        case 0: m = {n - 1, -1, n}; break;
        case 1: m.start = pick(0, last), m.extent = pick(least_, n - m.start); break;
        case 2: m = {pick(0, last), one_in(2) ? 2 : -2, pick(least_, n)}; break;
        case 3: m = {pick(-4, n + 2), one_in(2) ? 1 : -1, pick(least_, n + 6)}; break;
        default: break;
      }
    }
    TensorType next = t;
    for (int a = 0; a < t.shape.rank; ++a) next.shape[a] = g.axis[a].extent;
    g.fill = list(next, -20, 280);
    return g;
  }

  ResampleAxis axis(int a, int64_t extent) {
    ResampleAxis x{a,
                   pick(1, one_in(3) ? 50 : 20),
                   0,
                   static_cast<double>(extent),
                   static_cast<Filter>(pick(0, 5)),
                   1};
    if (one_in(6)) x.out = extent;
    if (one_in(2)) {
      x.lo = real(-1, static_cast<double>(extent) / 2);
      x.hi = x.lo + real(0.5, static_cast<double>(extent));
    }
    if (one_in(3)) std::swap(x.lo, x.hi);
    const double support = x.filter == Filter::kLanczos3                                    ? 3
                           : x.filter == Filter::kLinear || x.filter == Filter::kTriangular ? 1
                                                                                            : 2;
    const double scale = std::abs(x.hi - x.lo) / static_cast<double>(x.out);
    x.radius = support * (one_in(6) ? real(0.1, 2) : std::max(1.0, scale));
    x.clamped = one_in(3);
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

  Warp warp(const TensorType& t) {
    Warp w;
    w.count = 0;
    for (int a = 0; a < t.shape.rank && w.count < Warp::kMost; ++a) {
      const char letter = t.layout.letters[a];
      const bool usual = letter == 'H' || letter == 'W' || letter == 'D';
      if (usual ? !one_in(8) : one_in(8)) w.axis[w.count++] = a;
    }
    if (w.count == 0) w.axis[w.count++] = 0;
    const bool turns = one_in(5), is_tiny = one_in(8);
    for (int i = 0; i < w.count; ++i) {
      const double extent = static_cast<double>(t.shape[w.axis[i]]);
      w.out[i] = pick(1, one_in(3) ? 50 : 20);
      w.offset[i] = one_in(3) ? std::floor(real(-2, extent)) : real(-extent, extent);
      for (int j = 0; j < w.count; ++j)
        w.matrix[i][j] = turns     ? static_cast<double>(pick(-1, 1))
                         : is_tiny ? real(-0.1, 0.1)
                         : i == j  ? real(-1.5, 1.5)
                                   : real(-0.7, 0.7);
    }
    if (one_in(3)) {
      w.divisor_offset = real(-2, 2);
      for (int j = 0; j < w.count; ++j) w.divisor[j] = one_in(3) ? 0 : real(-0.1, 0.1);
      if (!w.has_perspective()) w.divisor_offset = 1;
    }
    show(w, t);
    return w;
  }

  Block pointwise(const TensorType& t) {
    Pointwise p;
    if (!one_in(3)) p.sub = list(t, -3, 150);
    if (!one_in(3)) p.mul = list(t, -2, 2);
    if (!one_in(3)) p.add = list(t, -50, 50);
    if (one_in(3)) p.div = list(t, 0.5, 300);
    return {p, result(t.dtype)};
  }

  Block channels(const TensorType& t) {
    Channels m;
    m.in = static_cast<int>(t.shape[t.layout.find('C')]);
    m.out = static_cast<int>(one_in(3) ? pick(1, 4) : m.in);
    const double most = one_in(10) ? 50 : 1.5;
    for (auto& row : m.weight)
      for (float& w : row) w = static_cast<float>(one_in(4) ? pick(-1, 1) : real(-most, most));
    for (float& o : m.offset) o = static_cast<float>(one_in(3) ? 0 : real(-100, 100));
    return {m, result(t.dtype)};
  }

  Block table(const TensorType& t) {
    const int c = t.layout.find('C');
    const int64_t lists = c >= 0 && t.shape[c] > 0 && one_in(3) ? t.shape[c] : 1;
    std::vector<float> values(static_cast<size_t>(lists * pick(0, one_in(8) ? 3000 : 300)));
    for (float& v : values) v = static_cast<float>(real(-50, 300));
    const DType result = dtype();
    return {Table{table_lists(values, lists, static_cast<float>(real(-5, 5)), result)}, result};
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
  int64_t least_;
};

inline std::string describe(const TensorType& in, std::span<const Block> blocks) {
  std::string text = in.str();
  static const char* const names[] = {"Gather", "Resample", "Pointwise", "Convert",
                                      "Store",  "Table",    "Channels",  "Warp"};
  TensorType t = in;
  for (const Block& b : blocks) {
    t = after(b, t);
    text += " -> ";
    text += names[b.kind.index()];
    if (auto* r = std::get_if<Resample>(&b.kind))
      for (int i = 0; i < r->count; ++i)
        text += " [" + std::to_string(r->axis[i].axis) + " filter " +
                std::to_string(static_cast<int>(r->axis[i].filter)) + "]";
    if (auto* w = std::get_if<Warp>(&b.kind)) {
      text += " filter " + std::to_string(static_cast<int>(w->filter));
      text += " border " + std::to_string(static_cast<int>(w->border));
      text += " fills " + std::to_string(w->fill.size());
      for (int i = 0; i < w->count; ++i) text += " [" + std::to_string(w->axis[i]) + "]";
    }
    text += " " + t.str();
  }
  return text;
}

}  // namespace stoker::test
