// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws from the Poisson distribution, with the same bits on every CPU and device.
#pragma once
#include "base/chance/philox.h"

namespace stoker {

namespace detail {

// The logarithm of k!, by Stirling's series from 10 on.
STOKER_HD inline double log_of_factorial(double k) {
  using exact::Num;
  if (k < 10) {
    double product = 1;
    for (double i = 2; i <= k; ++i) product *= i;
    return exact::log(product);
  }
  constexpr double kHalfLogOfTwoPi = 0x1.d67f1c864beb5p-1;
  const Num n = k, inverse = Num(1) / n, square = inverse * inverse;
  const Num series =
      inverse * (Num(1.0 / 12) - square * (Num(1.0 / 360) - square * Num(1.0 / 1260)));
  return ((n + Num(0.5)) * Num(exact::log(k)) - n + Num(kHalfLogOfTwoPi) + series).v;
}

}  // namespace detail

// Element `number` of a tensor has the blocks 16 number to 16 number + 15 of draws. Below a mean of
// 10, the first draw is looked up in the distribution. From there on, a try takes two draws
// (Hörmann: The transformed rejection method for generating Poisson random variables; 1993). More
// than 9 in 10 tries succeed; after 32 that fail, the result is the mean. Requires: mean > 0.
[[gnu::noinline]] STOKER_HD inline double poisson_of(const Chance& chance, int64_t number,
                                                     double mean) {
  using exact::Num;
  const auto first = 16 * static_cast<uint64_t>(number);
  const auto share = [](uint32_t draw) { return ((Num(draw) + Num(0.5)) * Num(0x1p-32)).v; };
  if (mean < 10) {
    const double wanted = share(chance.block(first).w[0]);
    Num part = exact::exp(-mean), sum = part;
    double k = 0;
    while (wanted > sum.v && k < 100) {
      k += 1;
      part = part * Num(mean) / Num(k);
      sum = sum + part;
    }
    return k;
  }
  const Num b = Num(0.931) + Num(2.53) * Num(std::sqrt(mean));
  const Num a = Num(-0.059) + Num(0.02483) * b;
  const Num scale = Num(1.1239) + Num(1.1328) / (b - Num(3.4));
  const Num fast = Num(0.9277) - Num(3.6224) / (b - Num(2));
  const Num log_of_mean = exact::log(mean);
  for (uint64_t i = 0; i < 16; ++i) {
    const Words w = chance.block(first + i);
    for (int half = 0; half < 2; ++half) {
      const Num u = Num(share(w.w[2 * half])) - Num(0.5), v = share(w.w[2 * half + 1]);
      const Num rest = Num(0.5) - Num(std::fabs(u.v));
      const double k = std::floor(((Num(2) * a / rest + b) * u + Num(mean) + Num(0.43)).v);
      if (rest.v >= 0.07 && v.v <= fast.v) return k;
      if (k < 0 || (rest.v < 0.013 && v.v > rest.v)) continue;
      const double bound = exact::log((v * scale / (a / (rest * rest) + b)).v);
      if (bound <= (Num(k) * log_of_mean - Num(mean) - Num(detail::log_of_factorial(k))).v)
        return k;
    }
  }
  return std::floor(mean);
}

}  // namespace stoker
