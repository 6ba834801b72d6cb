// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of coefficients become samples, bit for bit as by libjpeg-turbo's accurate transform.
//
// Note [Groups of blocks]
// Coefficients lie in groups of four blocks, so that a vector takes the same row of all four:
// coefficient (row r, column c) of block b is group[r * 32 + b * 8 + c], not yet multiplied by its
// quantum. Groups are aligned to 64 bytes and lie one behind the other.
//
// Note [Range of coefficients]
// libjpeg-turbo's variants for different CPUs agree while sums of two values fit into 16 bits.
// Coefficients times their quanta are modulo 2^16 in all of them. The transform of columns makes
// values of at least four times the largest of these, so it suffices to look at what it makes.
// Other blocks, which no picture of 8 bits has, are left to libjpeg-turbo.
#pragma once
#include <cstdint>

namespace stoker::jpeg {

inline constexpr int64_t kBlocksInGroup = 4, kGroupSize = 64 * kBlocksInGroup;
inline constexpr int32_t kMostBetween = (1 << 14) - 1;  // of what columns become

// Transforms `count` groups that lie side by side in the picture: 8 rows of 32 * count samples,
// `stride` bytes apart. `quanta` are 64 in natural order. Returns false where a value leaves the
// range; then `out` holds anything. Requires: `groups` is aligned to 64 bytes.
[[nodiscard]] bool inverse_transform(const int16_t* groups, int64_t count, const uint16_t* quanta,
                                     uint8_t* out, int64_t stride);

}  // namespace stoker::jpeg
