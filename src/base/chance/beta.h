// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws from the beta distribution, with the same bits on every CPU.
#pragma once
#include <cmath>

#include "base/chance/philox.h"

namespace stoker {

namespace detail {

// A number between 0 and 1 that is neither.
inline double inner_share(uint32_t draw) {
  using exact::Num;
  return ((Num(draw) + Num(0.5)) * Num(0x1p-32)).v;
}

// What draws from a gamma distribution need to know (Marsaglia and Tsang: A simple method for
// generating gamma variables; 2000). Where the shape is below 1, c and d are those of shape + 1.
struct Gamma {
  double shape, d, c;

  explicit Gamma(double shape) : shape(shape) {
    using exact::Num;
    d = (Num(shape < 1 ? (Num(shape) + Num(1)).v : shape) - Num(1) / Num(3)).v;
    c = (Num(1) / Num(std::sqrt((Num(9) * Num(d)).v))).v;
  }
  bool is_below_one() const { return shape < 1; }
};

// A try to draw a number, and its logarithm. It has no branches.
struct GammaTry {
  bool is_taken;
  double log;
};
inline GammaTry try_gamma(uint32_t first, uint32_t second, uint32_t third, const Gamma& g) {
  using exact::Num;
  const Num x = normal_of(first, second).first;
  const Num root = Num(1) + Num(g.c) * x;
  const Num v = std::abs((root * root * root).v);
  const Num bound = Num(0.5) * x * x + Num(g.d) * (Num(1) - v + Num(exact::log_of_normal(v.v)));
  const bool is_positive = root.v > 0;
  // Nearly all tries are taken for a large d, whose product above has no digits left.
  const bool is_below = (exact::log_of_normal(inner_share(third)) < bound.v) | (g.d > 1e10);
  return {static_cast<bool>(is_positive & is_below), exact::log_of_normal((Num(g.d) * v).v)};
}
// The logarithm of a draw for a shape below 1, from that of one for shape + 1 and a further draw u:
// adds log(u)/shape. It stays a logarithm, as most such numbers are too small for a double.
inline double for_shape_below_one(double log, uint32_t draw, double shape) {
  using exact::Num;
  return (Num(log) + Num(exact::log_of_normal(inner_share(draw))) / Num(shape)).v;
}

// The logarithm of a draw. Each try takes three draws, and most often one try is enough; a shape
// below 1 takes one draw more.
inline double log_of_gamma(Chance& chance, const Gamma& g) {
  for (;;) {
    const uint32_t first = chance.next(), second = chance.next(), third = chance.next();
    const GammaTry t = try_gamma(first, second, third, g);
    if (t.is_taken)
      return g.is_below_one() ? for_shape_below_one(t.log, chance.next(), g.shape) : t.log;
  }
}

// Two logarithms of gamma draws make one of the beta distribution in two steps: their difference,
// and 1 / (1 + e^difference). In one step, the compiler would make branches of the limits.
inline double bounded_difference(double first, double second) {
  using exact::Num;
  const double far = (Num(second) - Num(first)).v;
  const double near = far < exact::kMostPower ? far : exact::kMostPower;
  return near > exact::kLeastPower ? near : exact::kLeastPower;
}
inline double share_of(double difference) {
  using exact::Num;
  return (Num(1) / (Num(1) + Num(exact::exp_in_range(difference)))).v;
}

}  // namespace detail

// A draw from the distribution with these parameters, in [0, 1]. It takes the draws of two gammas,
// most often six or eight. Requires: alpha > 0, beta > 0.
inline double beta_of(Chance& chance, double alpha, double beta) {
  const double first = detail::log_of_gamma(chance, detail::Gamma(alpha));
  const double second = detail::log_of_gamma(chance, detail::Gamma(beta));
  return detail::share_of(detail::bounded_difference(first, second));
}

}  // namespace stoker
