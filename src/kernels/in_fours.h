// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over many rows at once, so that sums stay in registers.
#pragma once
#include <cstdint>

namespace stoker {

// Room behind the elements of rows, and what loops round lengths up to: a multiple of any vector,
// as the elements that are left over would take longer than all others.
inline constexpr int64_t kRowRound = 64;
constexpr int64_t rounded_up(int64_t n) { return (n + kRowRound - 1) / kRowRound * kRowRound; }

// Calls f<count>(k) for the numbers [begin, end), four at a time; k is the first of each group. GCC
// would unroll a plain loop over rows so that it cannot vectorise it.
template <class F>
void in_fours(int64_t begin, int64_t end, const F& f) {
  for (; begin + 4 <= end; begin += 4) f.template operator()<4>(begin);
  switch (end - begin) {
    case 3: return f.template operator()<3>(begin);
    case 2: return f.template operator()<2>(begin);
    case 1: return f.template operator()<1>(begin);
    default: return;
  }
}

}  // namespace stoker
