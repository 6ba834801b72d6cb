// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/levels.h"

#include <algorithm>
#include <atomic>

namespace stoker {
namespace {

CpuLevel level_of_cpu() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx2) return avx512 ? CpuLevel::kAvx512 : CpuLevel::kAvx2;
#endif
  return CpuLevel::kBase;
}

std::atomic<CpuLevel>& level() {
  static std::atomic<CpuLevel> level = level_of_cpu();
  return level;
}

}  // namespace

CpuLevel cpu_level() { return level().load(std::memory_order_relaxed); }

CpuLevel set_cpu_level_for_test(CpuLevel wanted) {
  return level().exchange(std::min(wanted, level_of_cpu()));
}

}  // namespace stoker
