// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A small 64-bit hash for the keys of orders, draws and caches. Its values are saved in graphs and
// states, so it never changes. It does not withstand an adversary.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/types.h"

namespace stoker {

// Every bit of x affects every bit of the result. A bijection: the finaliser of splitmix64.
STOKER_HD constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Makes one value of several, whose order matters.
STOKER_HD constexpr uint64_t mix(uint64_t a) { return mix_bits(a + 0x9e3779b97f4a7c15); }
template <class... More>
STOKER_HD constexpr uint64_t mix(uint64_t a, uint64_t b, More... more) {
  return mix(mix(a) ^ b, static_cast<uint64_t>(more)...);
}

// The hash of bytes. They are read as little-endian words on every machine.
constexpr uint64_t hash64(std::string_view bytes) {
  uint64_t h = mix(bytes.size());
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8 && at + i < bytes.size(); ++i)
      word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    h = mix(h, word);
  }
  return h;
}

}  // namespace stoker
