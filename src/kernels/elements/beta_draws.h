// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Many draws from the beta distribution at once.
#pragma once
#include <algorithm>

#include "base/chance/beta.h"
#include "kernels/elements/draws.h"
#include "kernels/levels.h"

namespace stoker {

// How many draws of 32 bits each element has for itself.
inline constexpr uint64_t kBetaDraws = 64;

namespace detail {

inline constexpr int64_t kSomeBetas = 8 * kBlockRoom;
using DrawOfEach = uint32_t[kSomeBetas];

// log[k] is the logarithm of element k's first try to draw from a gamma distribution, by
// draw[0][k], draw[1][k] and so on. `taken` loses the elements whose try is refused.
template <bool kIsLess>
void try_gammas(Gamma gamma, const DrawOfEach* draw, double* log, uint64_t* taken, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    GammaTry t = try_gamma(draw[0][k], draw[1][k], draw[2][k], gamma);  // as const, no vectors
    log[k] = kIsLess ? for_shape_below_one(t.log, draw[3][k], gamma.shape) : t.log;
    taken[k] &= t.is_taken;
  }
}

}  // namespace detail

// to[k] = beta_of(chance, alpha, beta) after chance.seek(kBetaDraws * (first + k)).
inline void beta_draws(Chance chance, int64_t first, double alpha, double beta, double* to,
                       int64_t n) {
  constexpr int64_t kSome = detail::kSomeBetas;
  constexpr uint64_t kBlocks = kBetaDraws / 4;
  const auto try_gammas = [](double shape, auto... arguments) {
    const detail::Gamma g(shape);
    if (g.is_below_one()) at_cpu_level([=] { detail::try_gammas<true>(g, arguments...); });
    else at_cpu_level([=] { detail::try_gammas<false>(g, arguments...); });
  };
  alignas(64) uint32_t words[4 * kSome];
  alignas(64) detail::DrawOfEach draw[8];
  alignas(64) double logs[2][kSome];
  uint64_t taken[kSome];
  for (int64_t done = 0; done < n; done += kSome) {
    const int64_t some = std::min(kSome, n - done);
    const uint64_t block = kBlocks * static_cast<uint64_t>(first + done);
    for (int j = 0; j < 8; ++j) {
      if (j % 4 == 0) draw_blocks(chance, block + (j >= 4), kBlocks, words, some);
      for (int64_t k = 0; k < some; ++k) draw[j][k] = words[4 * k + j % 4];
    }
    std::fill_n(taken, some, 1);
    try_gammas(alpha, draw, logs[0], taken, some);
    try_gammas(beta, draw + (alpha < 1 ? 4 : 3), logs[1], taken, some);
    at_cpu_level([&logs, some] {
      for (int64_t k = 0; k < some; ++k)
        logs[0][k] = detail::bounded_difference(logs[0][k], logs[1][k]);
    });
    at_cpu_level([&logs, to = to + done, some] {
      for (int64_t k = 0; k < some; ++k) to[k] = detail::share_of(logs[0][k]);
    });
    for (int64_t k = 0; k < some; ++k) {
      if (taken[k]) continue;
      chance.seek(kBetaDraws * static_cast<uint64_t>(first + done + k));
      to[done + k] = beta_of(chance, alpha, beta);
    }
  }
}

}  // namespace stoker
