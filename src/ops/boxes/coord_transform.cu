// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/points.cuh"
#include "op/type_of.h"

namespace stoker::ops::boxes {

struct CoordTransform {
  std::optional<Small<float>> m, mt, t;
  DType dtype = DType::kFloat32;

  static constexpr auto schema = describe(
      "coord_transform",
      "Moves points by a linear map: M x + T.\n\n"
      "The last axis of the input holds the coordinates of a point. The map may have more or fewer "
      "of them. It is computed in double precision, and then rounded.",
      ports({.name = "input",
             .help = "Points of at most 6 coordinates, of any dtype.",
             .unfolds = true,
             .makes_frames = true}),
      ports({.name = "output",
             .help = "The moved points. An argument with a value for each frame makes frames of an "
                     "input without."}),
      arg(&CoordTransform::m, "M",
          "The matrix, row after row, with a column for each coordinate of a point; one number is "
          "a factor of all. Default: the points stay.",
          kPerFrame),
      arg(&CoordTransform::mt, "MT",
          "M and T in one: the last column is T; one number is a factor of all. Excludes both of "
          "them.",
          kPerFrame),
      arg(&CoordTransform::t, "T", "What is added, one for each row of M or one for all.",
          kPerFrame),
      arg(&CoordTransform::dtype, "dtype", "Output dtype. Values are rounded and saturate."));

  PointMatrix matrix(const TensorType& type) const {
    require_points(type);
    const int in = static_cast<int>(type.shape[type.shape.rank - 1]);
    PointMatrix p = PointMatrix::identity(in);
    const auto& list = mt ? mt : m;
    const int columns = in + mt.has_value();
    if (list && list->size() == 1 && !(mt && in == 0)) {
      for (int i = 0; i < in; ++i) p.weight[i][i] = static_cast<double>((*list)[0]);
    } else if (list) {
      const auto count = static_cast<int>(list->size());
      p.out = columns ? count / columns : 0;
      require(p.out > 0 && p.out <= PointMatrix::kMost && p.out * columns == count, "argument '",
              mt ? "MT" : "M", "' has ", count, " values, expected 1 to ", PointMatrix::kMost,
              " rows of ", columns);
      for (int i = 0; i < p.out; ++i)
        for (int j = 0; j < columns; ++j)
          (j < in ? p.weight[i][j] : p.offset[i]) = static_cast<double>((*list)[i * columns + j]);
    }
    if (!t) return p;
    require_count("argument 'T'", t->size(), {1, p.out}, "one per coordinate");
    for (int i = 0; i < p.out; ++i) p.offset[i] = static_cast<double>(t->at_or_only(i));
    return p;
  }

  void check(Checker& c) const {
    const bool has_mt = mt || c.is_computed("MT");
    require(!has_mt || !(m || t || c.is_computed("M") || c.is_computed("T")),
            "argument 'MT' excludes 'M' and 'T'");
    TensorType type = c.in();
    require_points(type);
    type.dtype = dtype;
    const int last = type.shape.rank - 1;
    const bool is_known = last >= 0 && type.shape[last] >= 0 && !c.is_computed("M") &&
                          !c.is_computed("MT") && !c.is_computed("T");
    if (last >= 0) type.shape[last] = is_known ? matrix(c.in()).out : -1;
    c.out(type);
  }
  void infer(Inference& i) const {
    TensorType type = i.inputs[0];
    type.shape[type.shape.rank - 1] = matrix(type).out;
    type.dtype = dtype;
    i.out(type);
  }
  void demand(Demand& d) const { demand_points(d); }

  void run_cpu(Run& r) const { move_points(r, matrix(r.inputs[0].whole())); }
  static void run_gpu(GpuRun& r, std::span<const CoordTransform* const> items) {
    move_points(r, [&](size_t i) { return items[i]->matrix(r.items[i].inputs[0].whole()); });
  }

  static std::vector<Case> cases() {
    return {
        {"M=[0, 1, 1, 0], T=[1, 2]", {"float32 [[3, 4]]"}, {"float32 [[5, 5]]"}},
        {"M=2.0, dtype=types.UINT8", {"float32 [[0.25, 400]]"}, {"uint8 [[1, 255]]"}},
        {"MT=2.0", {"int32 [[3, 4]]"}, {"float32 [[6, 8]]"}},
        {"MT=[1, 1, 5]", {"int32 [[3, 4], [0, 1]]"}, {"float32 [[12], [6]]"}},
        {"T=[0.5]", {"float32 [1, 2, 3]"}, {"float32 [1.5, 2.5, 3.5]"}},
    };
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::CoordTransform)
