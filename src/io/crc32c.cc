// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace stoker::io {

namespace {

// tables[k][b]: what byte b becomes when k zero bytes follow it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
    t[0][b] = crc;
  }
  for (size_t k = 1; k < t.size(); ++k)
    for (size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}
constexpr Tables kTables = make_tables();

uint64_t word_at(const uint8_t* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(std::span<const uint8_t> bytes) {
  uint64_t crc = 0xffffffff;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) crc = _mm_crc32_u64(crc, word_at(bytes.data() + at));
  auto narrow = static_cast<uint32_t>(crc);
  for (; at < bytes.size(); ++at) narrow = _mm_crc32_u8(narrow, bytes[at]);
  return ~narrow;
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
__attribute__((target("+crc"))) uint32_t by_instruction(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xffffffff;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) crc = __crc32cd(crc, word_at(bytes.data() + at));
  for (; at < bytes.size(); ++at) crc = __crc32cb(crc, bytes[at]);
  return ~crc;
}
bool has_instruction() {
  constexpr unsigned long kCrc32 = 1UL << 7;  // HWCAP_CRC32
  return (::getauxval(AT_HWCAP) & kCrc32) != 0;
}
#else
uint32_t by_instruction(std::span<const uint8_t> bytes) { return detail::crc32c_by_tables(bytes); }
bool has_instruction() { return false; }
#endif

}  // namespace

uint32_t detail::crc32c_by_tables(std::span<const uint8_t> bytes) {
  uint32_t crc = 0xffffffff;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint32_t mixed = 0;
    const uint64_t word = word_at(bytes.data() + at) ^ crc;
    for (size_t i = 0; i < 8; ++i) mixed ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
    crc = mixed;
  }
  for (; at < bytes.size(); ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ bytes[at]) & 0xff];
  return ~crc;
}

uint32_t crc32c(std::span<const uint8_t> bytes) {
  static const bool fast = has_instruction();
  return fast ? by_instruction(bytes) : detail::crc32c_by_tables(bytes);
}

}  // namespace stoker::io
