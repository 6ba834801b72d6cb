// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Bits of a scan, and what they say of a DC coefficient. Compiled for each target, as Highway's
// -inl files are.
#include <bit>
#include <cstring>

#include "kernels/jpeg/entropy.h"

#if defined(STOKER_JPEG_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_JPEG_BITS_INL_H
#undef STOKER_JPEG_BITS_INL_H
#else
#define STOKER_JPEG_BITS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {

// Makes at least 56 bits ready. Bits below `count` are the next ones, so they may be read again.
HWY_INLINE void Refill(BitReader& r) {
  uint64_t next;
  std::memcpy(&next, r.next, sizeof next);
  if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
  r.bits |= next >> (r.count & 63);
  r.next += (63 - r.count) >> 3;
  r.count |= 56;
}
HWY_INLINE void Use(BitReader& r, uint64_t bits, uint64_t used) {
  r.bits = bits << (used & 63);
  r.count -= used;
}

// The value in the upper 63 - `shift` bits: it is negative if it begins with 0.
HWY_INLINE int64_t ValueOf(uint64_t bits, uint64_t shift) {
  const uint64_t sign = ~bits & (uint64_t{1} << 63);
  return (static_cast<int64_t>((bits >> 1) | sign) >> (shift & 63)) +
         static_cast<int64_t>(sign >> 63);
}

// Reads the difference of a DC coefficient. Returns whether it is one.
HWY_INLINE bool ReadDc(BitReader& r, const DcTable& table, int32_t& difference) {
  Refill(r);
  Single s{table.singles[r.bits >> (64 - kSingleBits)]};
  if (HWY_UNLIKELY(s.bits == 0)) s = find_symbol(table, r.bits);
  difference = static_cast<int32_t>(ValueOf(r.bits << s.length(), 63 - s.size()));
  Use(r, r.bits, s.total());
  return s.advance() == 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#endif  // toggle
