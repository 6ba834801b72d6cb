// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact weighted sums of bytes, two rows at a time, by dot products of two.
#pragma once
#include <cstdint>

#include "base/types.h"

namespace stoker {

namespace detail {
// sum + w0 * b0 + w1 * b1, modulo 2^32. w0 and w1 are the two int16 of `weights`, b0 and b1 are
// bytes 2 * half and 2 * half + 1 of `bytes`; the lowest ones come first.
template <int half>
STOKER_HD inline int32_t add_dot(int32_t sum, uint32_t weights, uint32_t bytes) {
#ifdef __CUDA_ARCH__
  int32_t r;
  if constexpr (half == 0)
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(weights), "r"(bytes), "r"(sum));
  else asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(weights), "r"(bytes), "r"(sum));
  return r;
#else
  bytes >>= 16 * half;
  const int32_t low = static_cast<int16_t>(weights) * static_cast<int32_t>(bytes & 0xff);
  const int32_t high =
      static_cast<int16_t>(weights >> 16) * static_cast<int32_t>(bytes >> 8 & 0xff);
  return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(low + high));
#endif
}

// Bytes 2 * half and 2 * half + 1 of a and of b, in the order a, b, a, b.
template <int half>
STOKER_HD inline uint32_t interleaved(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, half == 0 ? 0x5140 : 0x7362);
#else
  a >>= 16 * half;
  b >>= 16 * half;
  return (a & 0xff) | (b & 0xff) << 8 | (a >> 8 & 0xff) << 16 | (b >> 8 & 0xff) << 24;
#endif
}
}  // namespace detail

// Adds eight bytes of the rows a and b, each times the weight of its row, to the sums of their
// columns, modulo 2^32. `weights` holds two int16, the one of row a first.
STOKER_HD inline void add_two_rows(int32_t (&sum)[8], uint32_t weights, uint64_t a, uint64_t b) {
  for (int k = 0; k < 8; k += 4, a >>= 32, b >>= 32) {
    const auto upper = static_cast<uint32_t>(a), lower = static_cast<uint32_t>(b);
    const uint32_t first = detail::interleaved<0>(upper, lower);
    const uint32_t second = detail::interleaved<1>(upper, lower);
    sum[k] = detail::add_dot<0>(sum[k], weights, first);
    sum[k + 1] = detail::add_dot<1>(sum[k + 1], weights, first);
    sum[k + 2] = detail::add_dot<0>(sum[k + 2], weights, second);
    sum[k + 3] = detail::add_dot<1>(sum[k + 3], weights, second);
  }
}

}  // namespace stoker
