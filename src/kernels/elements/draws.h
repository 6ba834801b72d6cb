// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Many draws at once, with SIMD.
#pragma once
#include <cstdint>

#include "base/chance/philox.h"

namespace stoker {

// to[i] = chance.bits(first + i) for all i in [0, n).
void draw_words(const Chance& chance, uint64_t first, uint32_t* to, int64_t n);

// Writes blocks first, first + step, ... of four draws. `to` has room for a multiple of kBlockRoom.
inline constexpr int64_t kBlockRoom = 16;
void draw_blocks(const Chance& chance, uint64_t first, uint64_t step, uint32_t* to, int64_t blocks);

}  // namespace stoker
