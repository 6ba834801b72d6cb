// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/transform.h"

namespace stoker::ops::matrices {

struct TransformScale : Transform<TransformScale> {
  Small<float> scale;
  std::optional<Small<float>> center;
  std::optional<int> ndim;

  static constexpr auto schema = describe(
      "transforms.scale",
      "Makes a map that scales.\n\n"
      "The result fits warp_affine and coord_transform.",
      kTransformInputs, kTransformOutputs,
      arg(&TransformScale::scale, "scale", "Factors, one for all dimensions or one for each.",
          kRequiredPerFrame),
      arg(&TransformScale::center, "center", "The point that stays. Default: the origin.",
          kPerFrame),
      arg(&TransformScale::ndim, "ndim", "How many dimensions there are, if one factor serves all.",
          between(1, Affine::kMost)),
      reverse_order_argument<TransformScale>());

  void dimensions(Dimensions& d) const {
    d.add("argument 'scale'", scale.size());
    if (center) d.add("argument 'center'", center->size());
    if (ndim && !d.is_fixed) d.fix(*ndim);
  }
  Affine affine(int rank) const {
    Affine a(rank);
    for (int i = 0; i < rank; ++i) a.m[i][i] = static_cast<double>(scale.at_or_only(i));
    a.centre_at(center);
    return a;
  }

  static std::vector<Case> cases() {
    return {
        {"scale=[2, 3], center=[1, 1]", {}, {"float32 [[2, 0, -1], [0, 3, -2]]"}},
        {"scale=2.0, ndim=2", {}, {"float32 [[2, 0, 0], [0, 2, 0]]"}},
        {"scale=2.0", {"float32 [[1, 2, 3], [4, 5, 6]]"}, {"float32 [[2, 4, 6], [8, 10, 12]]"}},
    };
  }
};

}  // namespace stoker::ops::matrices

STOKER_OPERATOR(stoker::ops::matrices::TransformScale)
