// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What lies beyond the edges of a tensor, by the names of arguments, of OpenCV and of others.
#pragma once
#include <utility>

#include "kernels/border.h"
#include "op/value.h"

namespace stoker {

template <>
struct EnumNames<Border> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"constant", "clamp", "reflect_101", "reflect_1001",
                                           "wrap"};
  static constexpr std::pair<const char*, Border> kAlso[] = {
      {"replicate", Border::kClamp},       {"edge", Border::kClamp},
      {"fill", Border::kConstant},         {"101", Border::kReflect101},
      {"reflect101", Border::kReflect101}, {"1001", Border::kReflect1001},
      {"reflect", Border::kReflect1001},   {"reflect1001", Border::kReflect1001}};
};

inline constexpr const char* kBorderHelp =
    "What lies beyond the edge, beside elements 1234: fill_value ('constant'), 11 and 44 ('clamp' "
    "or "
    "'replicate'), 32 and 32 ('reflect_101' or '101'), 21 and 43 ('reflect_1001', '1001' or "
    "'reflect') or 34 and 12 ('wrap').";

}  // namespace stoker
