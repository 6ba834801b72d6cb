// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::values {

struct AsClasses {
  static constexpr Classes kClasses = Classes::kMade;
  static constexpr bool kAlias = true;
  static constexpr auto schema = describe(
      "as_classes",
      "Says that the numbers of a tensor are those of classes, as in a mask.\n\n"
      "The numbers stay as they are, and are not copied. Operators behind it keep them: "
      "resize and warps take the nearest pixel, and what would mix numbers is refused when "
      "the pipeline is built. Decoders say the same by output_type=types.CLASSES.",
      ports({.name = "input",
             .help = "Whole numbers.",
             .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64"}),
      ports({.name = "output", .help = "The same numbers."}));

  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[0], [255]]]"}, {"uint8 [[[0], [255]]]"}},
        {"", {"int32 [-1, 70000]"}, {"int32 [-1, 70000]"}},
    };
  }
};

}  // namespace stoker::ops::values

STOKER_OPERATOR(stoker::ops::values::AsClasses)
