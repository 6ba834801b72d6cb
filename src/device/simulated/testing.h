// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/testing.h"
#include "device/simulated/simulated.h"

namespace stoker {

struct AddOne {
  static constexpr int kPhases = 1;
  int* data;

  STOKER_HD void run(int, int64_t block, int thread, int threads, std::byte*) const {
    ++data[block * threads + thread];
  }
};

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace stoker
