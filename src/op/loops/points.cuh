// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators share that move points, whose coordinates are the last axis of a tensor.
#pragma once
#include "kernels/convert.h"
#include "kernels/fused_device/value.h"
#include "kernels/levels.h"
#include "op/loops/gpu_each.cuh"
#include "op/rules.h"

namespace stoker {

// Coordinate i of a moved point is weight[i][0] * x[0] + weight[i][1] * x[1] + ... + offset[i],
// summed up in this order in double precision. Coordinates with a weight of 0 are left out.
struct PointMatrix {
  static constexpr int kMost = 6;
  int in = 0, out = 0;
  double weight[kMost][kMost] = {}, offset[kMost] = {};

  static PointMatrix identity(int coordinates) {
    PointMatrix m{coordinates, coordinates};
    for (int i = 0; i < coordinates; ++i) m.weight[i][i] = 1;
    return m;
  }
  // Whether each coordinate depends on itself alone.
  bool only_scales() const {
    for (int i = 0; i < out; ++i)
      for (int j = 0; j < in; ++j)
        if ((weight[i][j] != 0) != (i == j)) return false;
    return in == out;
  }
};

// Throws WrongCall unless the last axis can be coordinates.
inline void require_points(const TensorType& in) {
  const int rank = in.shape.rank;
  require(rank != 0, "the input is a scalar, expected points");
  require(rank < 0 || in.shape[rank - 1] <= PointMatrix::kMost, "the input has the shape ",
          in.shape, ", expected points of at most ", PointMatrix::kMost, " coordinates");
}

// Whole points are needed.
inline void demand_points(Demand& d) {
  const int last = d.inputs[0].shape.rank - 1;
  d.needed[0] = d.wanted[0];
  d.needed[0].begin[last] = 0, d.needed[0].end[last] = d.inputs[0].shape[last];
}

// The coordinates of `to`, which is dense, one after the other.
struct MovedPoints {
  PointMatrix m;
  const std::byte* from;  // the first point
  Axes points;
  int64_t step, begin, width;  // of coordinates
  DType in, out;
  int size;
  std::byte* to;
  int64_t pieces;

  MovedPoints(const PointMatrix& matrix, const View& v, const View& o)
      : m(matrix), in(v.dtype), out(o.dtype), size(size_of(o.dtype)), pieces(o.shape.volume()) {
    const int last = o.shape.rank - 1;
    const Strided s = Strided::of(v);
    from = s.data + s.offset;
    for (int a = 0; a < last; ++a) from += o.origin[a] * v.strides[a];
    Shape shape = o.shape, strides = v.strides;
    shape.rank = strides.rank = last;
    points = Axes(shape, strides);
    step = v.strides[last], begin = o.origin[last], width = o.shape[last];
    to = o.as<std::byte>();
  }
  STOKER_HD void run(int64_t k) const {
    const int64_t i = begin + k % width;
    const std::byte* point = from + points.offset(k / width);
    double sum = 0;
    for (int j = 0; j < m.in; ++j) {
      if (m.weight[i][j] == 0) continue;
      const double x = number_of<double>(load_value(point + j * step, in));
      sum = detail::add_once(sum, detail::mul_once(m.weight[i][j], x));
    }
    store_value(value_of(detail::add_once(sum, m.offset[i]), out), to + k * size);
  }
};

// Moves n points in a row, coordinate by coordinate.
inline void move_row(const MovedPoints& p, const std::byte* from, int64_t stride, std::byte* to,
                     int64_t n) {
  constexpr int64_t kSome = 128;
  double x[PointMatrix::kMost][kSome], sum[kSome];
  for (int64_t first = 0; first < n; first += kSome) {
    const int64_t count = std::min(kSome, n - first);
    for (int j = 0; j < p.m.in; ++j)
      convert_row(from + first * stride + j * p.step, p.in, stride, x[j], DType::kFloat64,
                  sizeof(double), count);
    for (int64_t c = 0; c < p.width; ++c) {
      at_cpu_level([&, row = p.begin + c] {
        std::fill_n(sum, count, 0.0);
        for (int j = 0; j < p.m.in; ++j) {
          const double weight = p.m.weight[row][j];
          for (int64_t k = 0; weight != 0 && k < count; ++k) sum[k] += weight * x[j][k];
        }
        for (int64_t k = 0; k < count; ++k) sum[k] += p.m.offset[row];
      });
      convert_row(sum, DType::kFloat64, sizeof(double), to + (first * p.width + c) * p.size, p.out,
                  p.width * p.size, count);
    }
  }
}

// move_row() for floats and a matrix that only scales.
inline void scale_row(const PointMatrix& m, const float* from, float* to, int64_t n) {
  constexpr int64_t kSome = 60;  // a multiple of any number of coordinates
  double weight[kSome], offset[kSome];
  for (int64_t k = 0; k < kSome; ++k) {
    weight[k] = m.weight[k % m.in][k % m.in];
    offset[k] = m.offset[k % m.in];
  }
  at_cpu_level([&] {
    const int64_t values = n * m.in;
    for (int64_t first = 0; first < values; first += kSome)
      for (int64_t k = 0; k < std::min(kSome, values - first); ++k) {
        const double x = static_cast<double>(from[first + k]);
        to[first + k] = static_cast<float>(0 + weight[k] * x + offset[k]);
      }
  });
}

inline void move_points(Run& r, const PointMatrix& m) {
  const View &in = r.inputs[0], &out = r.outputs[0];
  const MovedPoints p(m, in, out);
  if (p.pieces == 0) return;
  const int last = out.shape.rank - 1;
  const int64_t n = last > 0 ? out.shape[last - 1] : 1,
                stride = last > 0 ? in.strides[last - 1] : 0;
  const bool floats = in.dtype == DType::kFloat32 && out.dtype == DType::kFloat32;
  const bool dense = p.step == sizeof(float) && (n == 1 || stride == m.in * p.step);
  for (int64_t point = 0; point * p.width < p.pieces; point += n) {
    const std::byte* from = p.from + p.points.offset(point);
    std::byte* to = p.to + point * p.width * p.size;
    if (floats && dense && p.width == m.in && m.only_scales())
      scale_row(m, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), n);
    else move_row(p, from, stride, to, n);
  }
}
template <class MakeMatrix>
void move_points(GpuRun& r, MakeMatrix matrix) {
  std::vector<MovedPoints> all;
  for (size_t i = 0; i < r.items.size(); ++i)
    all.emplace_back(matrix(i), r.items[i].inputs[0], r.items[i].outputs[0]);
  run_each(r, std::span<const MovedPoints>(all));
}

}  // namespace stoker
