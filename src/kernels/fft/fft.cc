// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fft/fft.h"

#include "base/exact_math.h"

namespace stoker {
namespace {

int64_t next_radix(int64_t n) {
  if (n % 4 == 0) return 4;
  for (int64_t r = 2; r * r <= n; ++r)
    if (n % r == 0) return r;
  return n;
}

}  // namespace

Fft::Fft(int64_t n) : n(n) {
  for (int64_t rest = n, stride = 1; rest > 1;) {
    const int64_t radix = next_radix(rest);
    stages.push_back({radix, n / radix, stride});
    rest /= radix;
    stride *= radix;
  }
  const double turn = 0x1.921fb54442d18p+2;
  for (int64_t k = 0; k < n; ++k) {
    const double angle = turn * static_cast<double>(k) / static_cast<double>(n);
    roots.push_back(static_cast<float>(exact::cos(angle)));
    roots.push_back(static_cast<float>(-exact::sin(angle)));
  }
}

}  // namespace stoker
