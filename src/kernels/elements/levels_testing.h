// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: one test for each level of the CPU.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "kernels/levels.h"

namespace stoker {

#ifdef STOKER_ONE_LEVEL
inline constexpr CpuLevel kCpuLevels[] = {CpuLevel::kBase};
#else
inline constexpr CpuLevel kCpuLevels[] = {CpuLevel::kBase, CpuLevel::kAvx2, CpuLevel::kAvx512};
#endif

inline std::string level_name(const testing::TestParamInfo<CpuLevel>& info) {
  const char* const names[] = {"base", "AVX2", "AVX512"};
  return names[static_cast<int>(info.param)];
}

// Levels that the CPU lacks are tested at its best one.
class AtCpuLevel : public testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override { before_ = set_cpu_level_for_test(GetParam()); }
  void TearDown() override { set_cpu_level_for_test(before_); }

 private:
  CpuLevel before_ = CpuLevel::kBase;
};

}  // namespace stoker
