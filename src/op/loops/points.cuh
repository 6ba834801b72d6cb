// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators share that move points, whose coordinates are the last axis of a tensor: both
// halves of their work. For the .cu files of operators. As thread-safe as the memory.
#pragma once
#include "kernels/fused_device/value.h"
#include "op/loops/gpu_each.cuh"
#include "op/rules.h"

namespace stoker {

// Coordinate i of a moved point is weight[i][0] * x[0] + weight[i][1] * x[1] + ... + offset[i],
// summed up in this order in double precision.
struct PointMatrix {
  static constexpr int kMost = 6;
  int in = 0, out = 0;
  double weight[kMost][kMost] = {}, offset[kMost] = {};

  static PointMatrix identity(int coordinates) {
    PointMatrix m{coordinates, coordinates};
    for (int i = 0; i < coordinates; ++i) m.weight[i][i] = 1;
    return m;
  }
};

// Throws WrongCall unless the last axis can be coordinates.
inline void require_points(const TensorType& in) {
  const int rank = in.shape.rank;
  require(rank != 0, "the input is a scalar, expected points");
  require(rank < 0 || in.shape[rank - 1] <= PointMatrix::kMost, "the input has the shape ",
          in.shape, ", expected points of at most ", PointMatrix::kMost, " coordinates");
}

// All of the points that are wanted.
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
      const double x = number_of<double>(load_value(point + j * step, in));
      sum = detail::add_once(sum, detail::mul_once(m.weight[i][j], x));
    }
    store_value(value_of(detail::add_once(sum, m.offset[i]), out), to + k * size);
  }
};

inline void move_points(Run& r, const PointMatrix& m) {
  const MovedPoints points(m, r.inputs[0], r.outputs[0]);
  for (int64_t k = 0; k < points.pieces; ++k) points.run(k);
}
// matrix(i) is that of item i.
template <class MakeMatrix>
void move_points(GpuRun& r, MakeMatrix matrix) {
  std::vector<MovedPoints> all;
  for (size_t i = 0; i < r.items.size(); ++i)
    all.emplace_back(matrix(i), r.items[i].inputs[0], r.items[i].outputs[0]);
  run_each(r, std::span<const MovedPoints>(all));
}

}  // namespace stoker
