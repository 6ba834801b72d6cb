// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Undoes the filters of PNG's rows.
#pragma once
#include <cstdint>

namespace stoker {

inline constexpr int kPngFilters = 5;  // none, sub, up, average, Paeth
inline constexpr int kBeforeRow = 8;  // zeros that stand before a row

// Makes `size` bytes of `row` from the filtered bytes, whose pixels have `step` bytes each (1, 2,
// 3, 4, 6 or 8; 1 where a byte holds several), and the row above. Requires: 0 <= filter <
// kPngFilters; kBeforeRow zeros stand before `row` and `above`; 8 bytes behind all three can be
// read, and 8 bytes behind `row` may be overwritten.
void unfilter(int filter, int step, const uint8_t* filtered, const uint8_t* above, uint8_t* row,
              int64_t size);

}  // namespace stoker
