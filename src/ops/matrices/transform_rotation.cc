// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/transform.h"

namespace stoker::ops::matrices {

struct TransformRotation : Transform<TransformRotation> {
  float angle = 0;
  std::optional<Small<float>> axis, center;

  static constexpr auto schema = describe(
      "transforms.rotation",
      "Makes a map that rotates.\n\n"
      "A positive angle turns x towards y, and in three dimensions as a right-handed screw along "
      "the "
      "axis. The result fits warp_affine and coord_transform.",
      kTransformInputs, kTransformOutputs,
      arg(&TransformRotation::angle, "angle", "The angle in degrees.", between(-1e6, 1e6),
          kRequiredPerFrame),
      arg(&TransformRotation::axis, "axis",
          "The axis to rotate about, of any length but 0, in three dimensions.", kPerFrame),
      arg(&TransformRotation::center, "center", "A point that stays. Default: the origin.",
          kPerFrame),
      reverse_order_argument<TransformRotation>());

  void check_arguments() const {
    if (!axis) return;
    require_count("argument 'axis'", axis->size(), {3}, "the axis x, y, z");
    require(length() > 0 && length() < 1e30, "argument 'axis' is ", *axis,
            ", which has no direction");
  }
  void dimensions(Dimensions& d) const {
    d.fix(axis ? 3 : 2);
    if (center) d.add("argument 'center'", center->size());
  }
  Affine affine(int rank) const {
    const auto [s, c] = exact::sin_cos_of_degrees(static_cast<double>(angle));
    Affine a(rank);
    if (axis) {
      double v[3];
      for (int i = 0; i < 3; ++i) v[i] = static_cast<double>((*axis)[i]) / length();
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const double sign = (j - i + 3) % 3 == 1 ? -1 : 1;  // of the third axis
          a.m[i][j] = v[i] * v[j] * (1 - c) + (i == j ? c : sign * v[3 - i - j] * s);
        }
    } else {
      a.m[0][0] = a.m[1][1] = c;
      a.m[0][1] = -s, a.m[1][0] = s;
    }
    a.centre_at(center);
    return a;
  }
  double length() const {
    double squares = 0;
    for (float x : *axis) squares += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(squares);
  }

  static std::vector<Case> cases() {
    return {
        {"angle=90.0", {}, {"float32 [[0, -1, 0], [1, 0, 0]]"}},
        {"angle=-180.0, center=[1, 2]", {}, {"float32 [[-1, 0, 2], [0, -1, 4]]"}},
        {"angle=0.0, center=[1, 2]", {}, {"float32 [[1, 0, 0], [0, 1, 0]]"}},
        {"angle=0.0, axis=[0, 0, 2]", {}, {"float32 [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]"}},
        {"angle=0.0", {"float32 [[1, 2, 3], [4, 5, 6]]"}, {"float32 [[1, 2, 3], [4, 5, 6]]"}},
    };
  }
};

}  // namespace stoker::ops::matrices

STOKER_OPERATOR(stoker::ops::matrices::TransformRotation)
