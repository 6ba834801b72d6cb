// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Plain loops, compiled for several levels of instructions and run at the best one of the CPU.
//
// Note [Levels]
// The compiler vectorises plain loops, but only with the instructions that it may use, and we build
// for every x86-64 CPU since 2009. So there is a copy of the loop for each level: `flatten` makes
// the compiler put everything that the loop calls into it. All levels give the same bytes, as no
// sum is reordered and no product is contracted (cmake/flags.cmake). What needs instructions that
// the compiler does not find by itself uses Highway instead (kernels/rows/).
//
// A build with sanitizers has STOKER_ONE_LEVEL, hence one copy: it vectorises nothing, and equal
// copies would take most of its time to compile.
#pragma once
#include <cstdint>

namespace stoker {

enum class CpuLevel : uint8_t { kBase, kAvx2, kAvx512 };

// The best level that this CPU has, or the one that a test has set.
CpuLevel cpu_level();
// Sets the level, if the CPU has it, and returns the one that was set before.
CpuLevel set_cpu_level_for_test(CpuLevel level);

namespace detail {

template <class Loop>
[[gnu::flatten]] void run_base(const Loop& loop) {
  loop();
}

#if defined(__x86_64__) && !defined(STOKER_ONE_LEVEL)
template <class Loop>
[[gnu::flatten, gnu::target("avx2,bmi,bmi2,f16c,lzcnt")]] void run_avx2(const Loop& loop) {
  loop();
}
template <class Loop>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2,f16c,lzcnt")]]
void run_avx512(const Loop& loop) {
  loop();
}
#endif

}  // namespace detail

// Calls loop(), plain arithmetic that throws nothing and allocates nothing.
template <class Loop>
void at_cpu_level(const Loop& loop) {
#if defined(__x86_64__) && !defined(STOKER_ONE_LEVEL)
  switch (cpu_level()) {
    case CpuLevel::kAvx512: return detail::run_avx512(loop);
    case CpuLevel::kAvx2: return detail::run_avx2(loop);
    default: break;
  }
#endif
  detail::run_base(loop);
}

}  // namespace stoker
