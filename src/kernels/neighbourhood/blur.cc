// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/blur.h"

#include <cmath>

#include "base/exact_math.h"
#include "kernels/elements/boxes.h"

namespace stoker {
namespace {

// Adds kPairs pairs of rows, from the distance `first` on, to the sums. The first call begins with
// the row in the middle, and the last one stores. rows[d] is the row at the distance d; each begins
// `at` elements before out[0].
template <class A, int kPairs, bool kLast, class In, class Out>
void add_pairs(const In* const* rows, int first, const typename A::Number* weights, int64_t at,
               typename A::Number* sums, Out* out, int64_t n) {
  using N = typename A::Number;
  const In *middle = rows[0] + at, *low[kPairs + 1], *high[kPairs + 1];
  N w[kPairs + 1];
  for (int j = 0; j < kPairs; ++j) {
    low[j] = rows[-first - j] + at;
    high[j] = rows[first + j] + at;
    w[j] = weights[first + j];
  }
  const auto add = [&](N sum, int64_t i) {
    for (int j = 0; j < kPairs; ++j)
      sum = A::sum(sum, A::product(A::pair(low[j][i], high[j][i]), w[j]));
    return sum;
  };
  const auto put = [&](int64_t i, N sum) {
    if constexpr (kLast) out[i] = A::template store<Out>(sum);
    else sums[i] = sum;
  };
  if (first == 1) {
    const N center = weights[0];
    for (int64_t i = 0; i < n; ++i) put(i, add(A::product(A::load(middle[i]), center), i));
  } else {
    for (int64_t i = 0; i < n; ++i) put(i, add(sums[i], i));
  }
}

// The blur of n elements along an axis, from the rows at the distances -radius ... radius.
template <class A, class In, class Out>
void blur_row(const In* const* rows, int radius, const typename A::Number* weights, Out* out,
              int64_t n) {
  constexpr int64_t kChunk = 1024, kBlock = 64;  // a block is a multiple of any vector
  constexpr int kGroup = 4;
  typename A::Number sums[kChunk];
  at_cpu_level([&] {
    if (radius == 0) {
      for (int64_t i = 0; i < n; ++i) out[i] = A::template store<Out>(A::load(rows[0][i]));
      return;
    }
    for (int64_t at = 0, count; at < n; at += count) {
      count = std::min(kChunk, n - at);
      if (count > kBlock) count -= count % kBlock;
      if (count < kBlock && n >= kBlock) at = n - kBlock, count = kBlock;  // some for a second time
      int j = 1;
      for (; radius - j >= kGroup; j += kGroup)
        add_pairs<A, kGroup, false>(rows, j, weights, at, sums, out + at, count);
      switch (radius - j + 1) {
        case 1: add_pairs<A, 1, true>(rows, j, weights, at, sums, out + at, count); break;
        case 2: add_pairs<A, 2, true>(rows, j, weights, at, sums, out + at, count); break;
        case 3: add_pairs<A, 3, true>(rows, j, weights, at, sums, out + at, count); break;
        default: add_pairs<A, 4, true>(rows, j, weights, at, sums, out + at, count); break;
      }
    }
  });
}

template <class Row>
constexpr DType kTypeOf = std::is_same_v<Row, uint8_t>  ? DType::kUint8
                          : std::is_same_v<Row, double> ? DType::kFloat64
                                                        : DType::kFloat32;

template <class Row>
void add_row(const Row* row, Row* to, int64_t n) {
  at_cpu_level([=] {
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Row>(to[i] + row[i]);
  });
}

// One blurred axis of a pass: positions [begin, end) of `full` are wanted.
template <class N>
struct BlurredAxis {
  int64_t begin = 0, end = 1, full = 1, radius = 0;
  std::vector<N> weights = {};
  int64_t low() const { return std::max<int64_t>(begin - radius, 0); }
  int64_t high() const { return std::min(end + radius, full); }
};

// Blurs planes of elements In, whose rows are dense, to rows of Row. These are converted to the
// output's dtype or, with `adds`, added to the output, whose type is then Row.
template <class A, class In, class Row>
class Planes {
 public:
  using N = typename A::Number;
  Planes(const View& in, const View& out, std::span<const BlurAxis> axes, bool adds, Arena& scratch)
      : in_(in), out_(out), adds_(adds) {
    for (size_t k = 0; k < axes.size(); ++k) {
      const size_t place = 3 - axes.size() + k;
      const int a = axis_[place] = axes[k].axis;
      std::vector<N> weights = A::weights(axes[k].weights);
      const auto radius = static_cast<int64_t>(weights.size()) - 1;
      blurred_[place] = {out.origin[a], out.origin[a] + out.shape[a], out.full[a], radius,
                         std::move(weights)};
      most_ = std::max(most_, blurred_[place].radius);
    }
    for (int a = axes.back().axis + 1; a < out.shape.rank; ++a) inner_ *= out.shape[a];
    const BlurredAxis<N>&y = blurred_[1], &x = blurred_[2];
    wide_ = (x.high() - x.low()) * inner_;
    line_ = make<N>(scratch, (x.end - x.begin + 2 * x.radius) * inner_);
    if (blurred_[0].radius > 0) plane_ = make<N>(scratch, (y.high() - y.low()) * wide_);
    if (out.dtype != kRow || adds) row_ = make<Row>(scratch, (x.end - x.begin) * inner_);
    rows_.resize(static_cast<size_t>(2 * most_ + 1));
    sums_.resize(rows_.size());
  }

  // Blurs the planes that begin at these addresses, where in_ and out_ begin for the axes outside.
  void run(const std::byte* from, std::byte* to) {
    const BlurredAxis<N>&z = blurred_[0], &y = blurred_[1];
    const int64_t out_row = (blurred_[2].end - blurred_[2].begin) * inner_ * size_of(out_.dtype);
    for (int64_t d = z.begin; d < z.end; ++d) {
      if (plane_) blur_depth(from, d);
      for (int64_t h = y.begin; h < y.end; ++h, to += out_row) {
        N* line = line_ + (blurred_[2].low() - (blurred_[2].begin - blurred_[2].radius)) * inner_;
        if (plane_) {
          blur_row<A>(near(sums_, y, h, [&](int64_t p) { return plane_ + (p - y.low()) * wide_; }),
                      static_cast<int>(y.radius), y.weights.data(), line, wide_);
        } else {
          blur_row<A>(near(rows_, y, h, [&](int64_t p) { return row(from, d, p); }),
                      static_cast<int>(y.radius), y.weights.data(), line, wide_);
        }
        blur_width(to);
      }
    }
  }

 private:
  static constexpr DType kRow = kTypeOf<Row>;
  template <class T>
  static T* make(Arena& scratch, int64_t n) {
    return static_cast<T*>(scratch.allocate(static_cast<size_t>(n) * sizeof(T)));
  }
  const In* row(const std::byte* from, int64_t d, int64_t h) const {
    const auto offset = [&](int place, int64_t p) {
      const int a = axis_[place];
      return a < 0 ? 0 : (p - in_.origin[a]) * in_.strides[a];
    };
    return reinterpret_cast<const In*>(from + offset(0, d) + offset(1, h) +
                                       offset(2, blurred_[2].low()));
  }
  // The rows at the distances -radius ... radius from p; points to the one in the middle.
  template <class T, class At>
  const T* const* near(std::vector<const T*>& rows, const BlurredAxis<N>& s, int64_t p,
                       const At& at) {
    for (int64_t j = -s.radius; j <= s.radius; ++j)
      rows[static_cast<size_t>(most_ + j)] = at(mirrored(p + j, s.full));
    return rows.data() + most_;
  }
  void blur_depth(const std::byte* from, int64_t d) {
    const BlurredAxis<N>&z = blurred_[0], &y = blurred_[1];
    for (int64_t h = y.low(); h < y.high(); ++h)
      blur_row<A>(near(rows_, z, d, [&](int64_t p) { return row(from, p, h); }),
                  static_cast<int>(z.radius), z.weights.data(), plane_ + (h - y.low()) * wide_,
                  wide_);
  }
  // Mirrors the ends of the line and blurs it.
  void blur_width(std::byte* to) {
    const BlurredAxis<N>& x = blurred_[2];
    const int64_t start = x.begin - x.radius;
    const auto element = [&](int64_t p) { return line_ + (p - start) * inner_; };
    for (int64_t p = start; p < x.low(); ++p)
      std::copy_n(element(mirrored(p, x.full)), inner_, element(p));
    for (int64_t p = x.high(); p < x.end + x.radius; ++p)
      std::copy_n(element(mirrored(p, x.full)), inner_, element(p));
    for (int64_t j = -x.radius; j <= x.radius; ++j)
      sums_[static_cast<size_t>(most_ + j)] = element(x.begin + j);
    const int64_t n = (x.end - x.begin) * inner_;
    Row* row = row_ ? row_ : reinterpret_cast<Row*>(to);
    blur_row<A>(sums_.data() + most_, static_cast<int>(x.radius), x.weights.data(), row, n);
    if (adds_) add_row(row_, reinterpret_cast<Row*>(to), n);
    else if (row_) convert_row(row_, kRow, to, out_.dtype, n);
  }

  const View &in_, &out_;
  bool adds_;
  int axis_[3] = {-1, -1, -1};
  BlurredAxis<N> blurred_[3];
  int64_t most_ = 0, inner_ = 1, wide_ = 0;
  N *line_ = nullptr, *plane_ = nullptr;
  Row* row_ = nullptr;
  std::vector<const In*> rows_;
  std::vector<const N*> sums_;
};

// The needed part of `in`, with dense rows of the type that the blur reads.
View as_type(const View& in, const Window& needed, DType type, int row_axis, Arena& scratch) {
  const View part = part_of(in, needed);
  if (in.dtype == type) return with_dense_rows(part, row_axis, scratch);
  const View from = with_dense_rows(part, 0, scratch);
  const int64_t n = from.shape.volume();
  void* to = scratch.allocate(static_cast<size_t>(n) * static_cast<size_t>(size_of(type)));
  convert_row(from.data, in.dtype, to, type, n);
  return View::window(to, type, needed, in.full, in.layout);
}

template <class A, class In, class Row>
void blur_rows(const View& rows, const View& out, std::span<const BlurAxis> axes, bool adds,
               Arena& scratch) {
  Planes<A, In, Row> planes(rows, out, axes, adds, scratch);
  Shape outside = out.shape;  // one position for each set of planes
  for (int a = axes[0].axis; a < outside.rank; ++a) outside[a] = 1;
  Walk<2> walk(outside, {{0, rows.strides}, {0, out.strides}});
  do {
    for (int64_t k = 0; k < walk.count; ++k)
      planes.run(rows.as<std::byte>() + walk.row[0] + k * walk.step[0],
                 out.as<std::byte>() + walk.row[1] + k * walk.step[1]);
  } while (walk.next());
}

template <class A, class In, class Row>
void blur_as(const View& in, const View& out, std::span<const BlurAxis> axes, Arena& scratch) {
  const Window needed = blur_demand(out.covers(), out.full, axes);
  const View rows = as_type(in, needed, kTypeOf<In>, axes.back().axis, scratch);
  blur_rows<A, In, Row>(rows, out, axes, false, scratch);
}

template <class N>
void sum_as(const View& in, const View& out, const BlurList& blurs, Arena& scratch) {
  Window needed = out.covers();
  for (const auto& axes : blurs) needed.include(blur_demand(out.covers(), out.full, axes));
  const View rows = as_type(in, needed, kTypeOf<N>, blurs[0].back().axis, scratch);
  View sum = out;
  const int64_t n = out.shape.volume();
  if (out.dtype != kTypeOf<N>)
    sum = View::window(scratch.array<N>(static_cast<size_t>(n)), kTypeOf<N>, out.covers(), out.full,
                       out.layout);
  for (size_t k = 0; k < blurs.size(); ++k)
    blur_rows<FloatBlur<N>, N, N>(rows, sum, blurs[k], k > 0, scratch);
  if (out.dtype != kTypeOf<N>) convert_row(sum.data, sum.dtype, out.data, out.dtype, n);
}

}  // namespace

std::vector<double> gaussian(double sigma, int radius) {
  if (sigma == 0) sigma = 0.3 * (radius - 1) + 0.8;
  std::vector<double> weights;
  double sum = 0;
  for (int k = 0; k <= radius; ++k) {
    weights.push_back(exact::exp(-0.5 * k * k / (sigma * sigma)));
    sum += (k ? 2 : 1) * weights.back();
  }
  for (double& w : weights) w /= sum;
  return weights;
}

std::vector<int16_t> FixedBlur::weights(std::span<const double> w) {
  std::vector<int16_t> fixed(w.size());
  int rest = 1 << 15;
  for (size_t k = 1; k < w.size(); ++k) {
    fixed[k] = static_cast<int16_t>(std::lround(w[k] * (1 << 15)));
    rest -= 2 * fixed[k];
  }
  while (fixed.size() > 1 && fixed.back() == 0) fixed.pop_back();
  fixed[0] = static_cast<int16_t>(std::min(rest, INT16_MAX));
  return fixed;
}

Window blur_demand(const Window& wanted, const Shape& full, std::span<const BlurAxis> axes) {
  Window needed = wanted;
  if (wanted.shape().volume() == 0) return needed;
  for (const BlurAxis& a : axes) {
    int64_t &begin = needed.begin[a.axis], &end = needed.end[a.axis];
    begin = std::max<int64_t>(begin - a.radius(), 0);
    end = std::min(end + a.radius(), full[a.axis]);
  }
  return needed;
}

void blur(const View& in, const View& out, std::span<const BlurAxis> axes, Arena& scratch) {
  if (out.shape.volume() == 0) return;
  with_blur(in.dtype, out.dtype, axes, [&](auto a) {
    using A = decltype(a);
    if constexpr (std::is_same_v<A, FixedBlur>)
      blur_as<A, uint8_t, uint8_t>(in, out, axes, scratch);
    else blur_as<A, typename A::Number, typename A::Number>(in, out, axes, scratch);
  });
}

void sum_of_blurs(const View& in, const View& out, const BlurList& blurs, Arena& scratch) {
  if (out.shape.volume() == 0) return;
  if (is_wide(in.dtype)) sum_as<double>(in, out, blurs, scratch);
  else sum_as<float>(in, out, blurs, scratch);
}

}  // namespace stoker
