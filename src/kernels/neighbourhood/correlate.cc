// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/correlate.h"

#include <cstring>

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "kernels/neighbourhood/window_rows.h"
#include "kernels/rows/rows.h"

namespace stoker {
namespace {

template <class V, class A>
struct ConvertedRow {
  static void row(const std::byte* from, A* to, int64_t n) {
    if constexpr (std::is_same_v<V, A>) {
      // Faster than a loop of vectors where memory is not in the caches.
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(A));
    } else {
      const V* values = reinterpret_cast<const V*>(from);
      at_cpu_level([=] {
        for (int64_t i = 0; i < n; ++i) to[i] = convert<A>(values[i]);
      });
    }
  }
};

template <class A>
struct Tap {
  int64_t row, offset;  // in elements
  A weight;
};

template <class A>
std::vector<Tap<A>> taps_of(std::span<const float> weights, int64_t width, int64_t step) {
  std::vector<Tap<A>> taps;
  for (int64_t k = 0; k < static_cast<int64_t>(weights.size()); ++k)
    if (const float w = weights[static_cast<size_t>(k)]; w != 0)
      taps.push_back({k / width, k % width * step, static_cast<A>(w)});
  return taps;
}

// Adds the products of `count` taps to n sums, or begins the sums with them if it `sets` these.
template <int count, bool sets, class A>
void add_taps(const Tap<A>* taps, const A* const* rows, int64_t at, A* __restrict sums, int64_t n) {
  const A* row[count];
  A weight[count];
  for (int t = 0; t < count; ++t) {
    row[t] = rows[taps[t].row] + taps[t].offset + at;
    weight[t] = taps[t].weight;
  }
  for (int64_t i = 0; i < n; ++i) {
    A sum = sets ? 0 : sums[i];
    for (int t = 0; t < count; ++t) sum += row[t][i] * weight[t];
    sums[i] = sum;
  }
}

constexpr int64_t kCorrelated = 768;  // elements that are made at once

// Sets n sums, from that of element `at` on. Requires: n is a multiple of kRowRound.
template <class A>
void correlate_row(std::span<const Tap<A>> taps, const A* const* rows, int64_t at, A* sums,
                   int64_t n) {
  at_cpu_level([=, list = taps.data(), taps = std::ssize(taps)] {
    for (int64_t k = 0; k < n; k += kCorrelated) {
      const int64_t count = std::min(kCorrelated, n - k);
      if (taps == 9) {  // a window of 3 x 3
        add_taps<9, true>(list, rows, at + k, sums + k, count);
      } else if (taps == 5) {  // a cross in it
        add_taps<5, true>(list, rows, at + k, sums + k, count);
      } else {
        std::fill_n(sums + k, count, A{0});
        in_fours(0, taps, [&]<int some>(int64_t t) {
          add_taps<some, false>(list + t, rows, at + k, sums + k, count);
        });
      }
    }
  });
}

template <class V, class A>
void correlate_as(const View& in, const View& out, std::span<const WindowAxis> axes,
                  std::span<const float> weights, Border border, A fill, Arena& scratch) {
  constexpr DType kType = sizeof(A) == 4 ? DType::kFloat32 : DType::kFloat64;
  const ValueStep rounding{kType, out.dtype, false, 0, 1, 0};
  std::vector<Tap<A>> taps;
  A sums[kCorrelated];
  const auto make = [&](const auto& window, A* const* list, std::byte* to) {
    const int64_t n = window.count();
    if (taps.empty()) taps = taps_of<A>(weights, window.width(), window.inner());
    if (out.dtype == kType && n >= kRowRound) {  // in place; of the last, some are made twice
      A* made = reinterpret_cast<A*>(to);
      const int64_t most = n / kRowRound * kRowRound, last = n - kRowRound;
      correlate_row<A>(taps, list, 0, made, most);
      if (most < n) correlate_row<A>(taps, list, last, made + last, kRowRound);
    } else {
      for (int64_t at = 0; at < n; at += kCorrelated) {
        const int64_t some = std::min(kCorrelated, n - at);
        correlate_row<A>(taps, list, at, sums, rounded_up(some));
        rows::apply({&rounding, 1}, sums, to + at * size_of(out.dtype), some);
      }
    }
  };
  for_each_window_row<A, ConvertedRow<V, A>>(in, out, axes, border, fill, scratch, make);
}

}  // namespace

void correlate(const View& in, const View& out, std::span<const WindowAxis> axes,
               std::span<const float> weights, Border border, double fill, Arena& scratch) {
  with_type(in.dtype, [&](auto v) {
    using V = decltype(v);
    using A = std::conditional_t<kIsWide<V>, double, float>;
    correlate_as<V, A>(in, out, axes, weights, border, static_cast<A>(fill), scratch);
  });
}

}  // namespace stoker
