// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/transform.h"

namespace stoker::ops::matrices {

struct TransformTranslation : Transform<TransformTranslation> {
  Small<float> offset;

  static constexpr auto schema = describe("transforms.translation",
                                          "Makes a map that adds an offset.\n\n"
                                          "The result fits warp_affine and coord_transform.",
                                          kTransformInputs, kTransformOutputs,
                                          arg(&TransformTranslation::offset, "offset",
                                              "What is added, by dimension.", kRequiredPerFrame),
                                          reverse_order_argument<TransformTranslation>());

  void dimensions(Dimensions& d) const { d.add("argument 'offset'", offset.size()); }
  Affine affine(int rank) const {
    Affine a(rank);
    for (int i = 0; i < rank; ++i) a.m[i][rank] = static_cast<double>(offset.at_or_only(i));
    return a;
  }

  static std::vector<Case> cases() {
    return {
        {"offset=[1, 2]", {}, {"float32 [[1, 0, 1], [0, 1, 2]]"}},
        {"offset=[10, 20]",
         {"float32 [[1, 2, 3], [4, 5, 6]]"},
         {"float32 [[1, 2, 13], [4, 5, 26]]"}},
        {"offset=[10, 20], reverse_order=True",
         {"float32 [[1, 2, 3], [4, 5, 6]]"},
         {"float32 [[1, 2, 53], [4, 5, 146]]"}},
    };
  }
};

}  // namespace stoker::ops::matrices

STOKER_OPERATOR(stoker::ops::matrices::TransformTranslation)
