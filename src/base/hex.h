// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cinttypes>
#include <cstdio>
#include <string>

namespace stoker {

// The 16 digits of x.
inline std::string hex(uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, x);
  return text;
}

}  // namespace stoker
