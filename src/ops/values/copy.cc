// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::values {

struct Copy {
  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe("copy",
                                          "Copies a tensor, also from one device to another.\n\n"
                                          "With device=\"gpu\" and an input on the CPU, it copies "
                                          "to the GPU. Dtype, shape and layout stay.",
                                          ports({.name = "input", .help = "Any tensor."}),
                                          ports({.name = "output", .help = "The copy."}));

  void check(Checker& c) const { c.out(c.in()); }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    l.add(Gather::identity(in.shape), in.dtype);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2, 3]]]"}, {"uint8 [[[1, 2, 3]]]"}},
        {"", {"float32 [0.5, -2.0]"}, {"float32 [0.5, -2.0]"}},
    };
  }
};

}  // namespace stoker::ops::values

STOKER_OPERATOR(stoker::ops::values::Copy)
