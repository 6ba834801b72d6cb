// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/transform.h"

namespace stoker::ops::matrices {

struct TransformCombine {
  bool reverse_order = false;

  static constexpr auto schema = describe(
      "transforms.combine",
      "Joins affine maps to one.\n\n"
      "The first one comes first: combine(a, b) is b after a.",
      ports({.name = "matrices",
             .help = "Maps: n rows of n + 1 numbers.",
             .dtypes = "float32",
             .unfolds = true,
             .repeats = true}),
      kTransformOutputs,
      arg(&TransformCombine::reverse_order, "reverse_order", "Whether the last one comes first."));

  static TensorType combined(std::span<const TensorType> maps) {
    int rank = -1;
    for (const TensorType& t : maps) {
      const int own = map_rank(t);
      require(rank < 0 || own < 0 || own == rank, "a map has ", own, " dimensions, another one ",
              rank);
      rank = std::max(rank, own);
    }
    return Affine::type(rank);
  }
  void check(Checker& c) const { c.out(combined(c.inputs)); }
  void infer(Inference& i) const { i.out(combined(i.inputs)); }

  void run_cpu(Run& r) const {
    Affine all = Affine::of(r.inputs[0]);
    for (const View& v : r.inputs.subspan(1))
      all = reverse_order ? all.after(Affine::of(v)) : Affine::of(v).after(all);
    all.write(r.outputs[0]);
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"float32 [[1, 2, 3], [4, 5, 6]]", "float32 [[1, 0, 10], [0, 1, 20]]"},
         {"float32 [[1, 2, 13], [4, 5, 26]]"}},
        {"reverse_order=True",
         {"float32 [[1, 2, 3], [4, 5, 6]]", "float32 [[1, 0, 10], [0, 1, 20]]"},
         {"float32 [[1, 2, 53], [4, 5, 146]]"}},
        {"", {"float32 [[2, 1]]"}, {"float32 [[2, 1]]"}},
    };
  }
};

}  // namespace stoker::ops::matrices

STOKER_OPERATOR(stoker::ops::matrices::TransformCombine)
