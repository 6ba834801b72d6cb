// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as hexadecimal digits. Pure functions.
#pragma once
#include <cinttypes>
#include <cstdio>
#include <string>

namespace stoker {

// Its 16 digits.
inline std::string hex(uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, x);
  return text;
}

}  // namespace stoker
