// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What lies beyond the edges of a tensor.
#pragma once
#include "base/types.h"

namespace stoker {

// To the left and the right of 1234 lie: a constant, 11 and 44, 32 and 32, 21 and 43, 34 and 12.
enum class Border : uint8_t { kConstant, kClamp, kReflect101, kReflect1001, kWrap };

// The position in [0, n) that p is mirrored to at the outermost elements. Requires: n > 0.
STOKER_HD inline int64_t mirrored(int64_t p, int64_t n) {
  if (p >= 0 && p < n) return p;
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  p %= period;
  if (p < 0) p += period;
  return p < n ? p : period - p;
}

// The position in [0, n) that position p stands for; -1: it is the constant. Requires: n > 0.
STOKER_HD inline int64_t bordered(int64_t p, int64_t n, Border border) {
  if (p >= 0 && p < n) return p;
  if (border == Border::kConstant) return -1;
  if (border == Border::kClamp) return p < 0 ? 0 : n - 1;
  if (border == Border::kReflect101) return mirrored(p, n);
  const int64_t period = border == Border::kWrap ? n : 2 * n;
  p %= period;
  if (p < 0) p += period;
  return p < n ? p : period - 1 - p;
}

}  // namespace stoker
