// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which file some bytes are, told by the bytes alone.
#pragma once
#include <compare>
#include <cstdint>
#include <span>

namespace stoker {

// A hash of 64 bits. Any change within one word of 8 bytes changes it, and what else differs has
// the same one once in 2^64. It does not withstand an adversary. Its values are saved, so it never
// changes, and it is the same on every machine.
uint64_t hash_of_file(std::span<const uint8_t> bytes);

// Files with the same key are taken to be the same.
struct FileKey {
  uint64_t size = 0, hash = 0;

  static FileKey of(std::span<const uint8_t> bytes) { return {bytes.size(), hash_of_file(bytes)}; }
  auto operator<=>(const FileKey&) const = default;
};

}  // namespace stoker
