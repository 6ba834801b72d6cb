// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/value.h"

namespace stoker {

enum class PixelOrigin : uint8_t { kCorner, kCenter };
template <>
struct EnumNames<PixelOrigin> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"corner", "center"};
};

}  // namespace stoker
