// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/transform.h"

namespace stoker::ops::matrices {

struct TransformCrop : Transform<TransformCrop> {
  Small<float> from_start = {0}, from_end = {1}, to_start = {0}, to_end = {1};
  bool absolute = false;

  static constexpr auto schema = describe(
      "transforms.crop",
      "Makes a map that takes one box to another.\n\n"
      "A box without an extent in a dimension cannot be stretched: taking it gives factors that "
      "are "
      "infinite, or NaN where the other box has no extent there either. The result fits "
      "warp_affine and coord_transform.",
      kTransformInputs, kTransformOutputs,
      arg(&TransformCrop::from_start, "from_start", "Start of the box that is taken.", kPerFrame),
      arg(&TransformCrop::from_end, "from_end", "End of the box that is taken.", kPerFrame),
      arg(&TransformCrop::to_start, "to_start", "Start of the box that it becomes.", kPerFrame),
      arg(&TransformCrop::to_end, "to_end", "End of the box that it becomes.", kPerFrame),
      arg(&TransformCrop::absolute, "absolute",
          "Whether starts and ends are swapped where the end is less, so that nothing is "
          "mirrored."),
      reverse_order_argument<TransformCrop>());

  void dimensions(Dimensions& d) const {
    d.add("argument 'from_start'", from_start.size());
    d.add("argument 'from_end'", from_end.size());
    d.add("argument 'to_start'", to_start.size());
    d.add("argument 'to_end'", to_end.size());
  }
  Affine affine(int rank) const {
    Affine a(rank);
    for (int i = 0; i < rank; ++i) {
      double from[2] = {static_cast<double>(from_start.at_or_only(i)),
                        static_cast<double>(from_end.at_or_only(i))};
      double to[2] = {static_cast<double>(to_start.at_or_only(i)),
                      static_cast<double>(to_end.at_or_only(i))};
      if (absolute && from[1] < from[0]) std::swap(from[0], from[1]);
      if (absolute && to[1] < to[0]) std::swap(to[0], to[1]);
      a.m[i][i] = (to[1] - to[0]) / (from[1] - from[0]);
      a.m[i][rank] = to[0] - a.m[i][i] * from[0];
    }
    return a;
  }

  static std::vector<Case> cases() {
    return {
        {"", {}, {"float32 [[1, 0]]"}},
        {"from_start=[1, 2], from_end=[3, 6]", {}, {"float32 [[0.5, 0, -0.5], [0, 0.25, -0.5]]"}},
        {"to_start=[0.75], to_end=[0.25], absolute=True",
         {"float32 [[1, 2, 3], [4, 5, 6]]"},
         {"float32 [[0.5, 1, 1.75], [2, 2.5, 3.25]]"}},
    };
  }
};

}  // namespace stoker::ops::matrices

STOKER_OPERATOR(stoker::ops::matrices::TransformCrop)
