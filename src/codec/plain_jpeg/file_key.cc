// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/file_key.h"

#include <cstring>

#include "base/foreign_bytes.h"
#include "base/hash.h"

namespace stoker {
namespace {

// So many multiplications are under way at once that none waits for the one before it.
constexpr size_t kLanes = 8, kStripe = 8 * kLanes;

// For each word a bijection of the state, and for each state one of the word.
uint64_t with_word(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9fb21c651e98df25;
  return state ^ state >> 32;
}

}  // namespace

uint64_t hash_of_file(std::span<const uint8_t> bytes) {
  uint64_t lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = mix(i);
  size_t at = 0;
  for (; at + kStripe <= bytes.size(); at += kStripe)
    for (size_t i = 0; i < kLanes; ++i)
      lanes[i] = with_word(lanes[i], number_at<uint64_t>(bytes, at + 8 * i));
  uint8_t rest[kStripe] = {};  // the size tells these zeros from others
  if (at < bytes.size()) std::memcpy(rest, bytes.data() + at, bytes.size() - at);
  uint64_t hash = mix(bytes.size());
  for (size_t i = 0; i < kLanes; ++i)
    hash = mix(hash, with_word(lanes[i], number_at<uint64_t>(rest, 8 * i)));
  return hash;
}

}  // namespace stoker
