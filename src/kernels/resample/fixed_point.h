// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The roundings of Note [Fixed point] in taps.h.
#pragma once
#include <cstdint>

#include "base/types.h"

namespace stoker {

// For an axis of int16 values. The result has 6 fraction bits, as these have.
STOKER_HD inline int16_t fixed_between(int32_t sum) {
  const int32_t v = (sum + (1 << 13)) >> 14;
  return static_cast<int16_t>(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}
// For an axis of uint8 values, which have no fraction bits.
STOKER_HD inline int16_t fixed_between_u8(int32_t sum) {
  const int32_t v = (sum + (1 << 7)) >> 8;
  return static_cast<int16_t>(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}
// For the last axis.
STOKER_HD inline uint8_t fixed_result(int32_t sum) {
  const int32_t v = (sum + (1 << 19)) >> 20;
  return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}

}  // namespace stoker
