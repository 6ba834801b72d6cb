// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/transform.h"

namespace stoker::ops::matrices {

struct TransformShear : Transform<TransformShear> {
  std::optional<Small<float>> shear, angles, center;

  static constexpr auto schema = describe(
      "transforms.shear",
      "Makes a map that shears.\n\n"
      "With two numbers, x moves by the first times y, and y by the second times x. With six, the "
      "rows for x, y and z have two each, in the order of the coordinates. The result fits "
      "warp_affine and coord_transform.",
      kTransformInputs, kTransformOutputs,
      arg(&TransformShear::shear, "shear", "The factors: two, or six in three dimensions.",
          kPerFrame),
      arg(&TransformShear::angles, "angles",
          "Angles in degrees whose tangents are the factors. Excludes shear.", between(-90, 90),
          kPerFrame),
      arg(&TransformShear::center, "center", "A point that stays. Default: the origin.", kPerFrame),
      reverse_order_argument<TransformShear>());

  void check_arguments() const {
    require(shear.has_value() != angles.has_value(),
            "expects either of the arguments 'shear' and 'angles'");
    require_count(shear ? "argument 'shear'" : "argument 'angles'", list().size(), {2, 6},
                  "two, or six in three dimensions");
  }
  void dimensions(Dimensions& d) const {
    d.fix(list().size() == 2 ? 2 : 3);
    if (center) d.add("argument 'center'", center->size());
  }
  Affine affine(int rank) const {
    Affine a(rank);
    size_t k = 0;
    for (int i = 0; i < rank; ++i)
      for (int j = 0; j < rank; ++j)
        if (i != j) a.m[i][j] = factor(list()[k++]);
    a.centre_at(center);
    return a;
  }
  const Small<float>& list() const { return shear ? *shear : *angles; }
  double factor(float x) const {
    if (shear) return static_cast<double>(x);
    return exact::tangent(static_cast<double>(x) * exact::kRadiansPerDegree);
  }

  static std::vector<Case> cases() {
    return {
        {"shear=[2, 3], center=[1, 1]", {}, {"float32 [[1, 2, -2], [3, 1, -3]]"}},
        {"shear=[1, 2, 3, 4, 5, 6]", {}, {"float32 [[1, 1, 2, 0], [3, 1, 4, 0], [5, 6, 1, 0]]"}},
        {"angles=[0, 0]", {"float32 [[1, 2, 3], [4, 5, 6]]"}, {"float32 [[1, 2, 3], [4, 5, 6]]"}},
    };
  }
};

}  // namespace stoker::ops::matrices

STOKER_OPERATOR(stoker::ops::matrices::TransformShear)
