// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws from the beta distribution, with the same bits on every CPU. Pure functions; thread-safe.
#pragma once
#include "base/philox.h"

namespace stoker {

namespace detail {

// A number between 0 and 1 that is neither.
inline double inner_share(uint32_t draw) {
  using exact::detail::Num;
  return ((Num(draw) + Num(0.5)) * Num(0x1p-32)).v;
}

// The logarithm of a draw from the gamma distribution of this shape (Marsaglia and Tsang: A simple
// method for generating gamma variables; 2000). It takes three draws for each try, most often one
// try, and one more draw where the shape is below 1: there a draw of shape + 1 is multiplied with
// u^(1/shape), as a logarithm, because most such numbers are too small for a double.
inline double log_of_gamma(Chance& chance, double shape) {
  using exact::detail::Num;
  const Num d = Num(shape < 1 ? (Num(shape) + Num(1)).v : shape) - Num(1) / Num(3);
  const Num c = Num(1) / Num(std::sqrt((Num(9) * d).v));
  for (;;) {
    const uint32_t first = chance.next(), second = chance.next(), third = chance.next();
    const Num x = normal_of(first, second).first;
    const Num root = Num(1) + c * x;
    if (root.v <= 0) continue;
    const Num v = root * root * root;
    const Num bound = Num(0.5) * x * x + d * (Num(1) - v + Num(exact::log(v.v)));
    if (exact::log(inner_share(third)) >= bound.v) continue;
    const Num log = exact::log((d * v).v);
    if (shape >= 1) return log.v;
    return (log + Num(exact::log(inner_share(chance.next()))) / Num(shape)).v;
  }
}

}  // namespace detail

// A draw from the distribution with these parameters, in [0, 1]. It takes the draws of two gammas,
// most often six or eight. Requires: alpha > 0, beta > 0.
inline double beta_of(Chance& chance, double alpha, double beta) {
  using exact::detail::Num;
  const double first = detail::log_of_gamma(chance, alpha);
  const double second = detail::log_of_gamma(chance, beta);
  return (Num(1) / (Num(1) + Num(exact::exp((Num(second) - Num(first)).v)))).v;
}

}  // namespace stoker
