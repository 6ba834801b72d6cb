// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/correlate.h"

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "kernels/neighbourhood/window_rows.h"
#include "kernels/rows/rows.h"

namespace stoker {
namespace {

template <class V, class A>
struct ConvertedRow {
  static void row(const std::byte* from, A* to, int64_t n) {
    const V* values = reinterpret_cast<const V*>(from);
    at_cpu_level([=] {
      for (int64_t i = 0; i < n; ++i) to[i] = convert<A>(values[i]);
    });
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

// Adds the products of so many taps to n sums, or sets these to them.
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

// `sums` has room for rounded_up(n) elements.
template <class A>
void correlate_row(std::span<const Tap<A>> taps, const A* const* rows, A* sums, int64_t n) {
  constexpr int64_t kChunk = 512;
  at_cpu_level([=, list = taps.data(), taps = std::ssize(taps)] {
    for (int64_t at = 0; at < n; at += kChunk) {
      const int64_t count = rounded_up(std::min(kChunk, n - at));
      if (taps == 9) {  // a window of 3 x 3
        add_taps<9, true>(list, rows, at, sums + at, count);
      } else if (taps == 5) {  // a cross in it
        add_taps<5, true>(list, rows, at, sums + at, count);
      } else {
        std::fill_n(sums + at, count, A{0});
        in_fours(0, taps, [&]<int some>(int64_t k) {
          add_taps<some, false>(list + k, rows, at, sums + at, count);
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
  A* sums = nullptr;
  for_each_window_row<A, ConvertedRow<V, A>>(
      in, out, axes, border, fill, scratch, [&](const auto& window, A* const* list, std::byte* to) {
        if (!sums) {
          sums = scratch.array<A>(static_cast<size_t>(rounded_up(window.count())));
          taps = taps_of<A>(weights, window.width(), window.inner());
        }
        correlate_row<A>(taps, list, sums, window.count());
        rows::apply({&rounding, 1}, sums, to, window.count());
      });
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
