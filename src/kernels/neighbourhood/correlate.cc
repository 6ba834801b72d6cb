// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/correlate.h"

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "kernels/neighbourhood/window_rows.h"

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

template <class A>
void correlate_row(std::span<const Tap<A>> taps, const A* const* rows, A* out, int64_t n) {
  constexpr int64_t kChunk = 512;
  at_cpu_level([=] {
    for (int64_t at = 0; at < n; at += kChunk) {
      const int64_t count = std::min(kChunk, rounded_up(n - at));
      A sums[kChunk];
      for (int64_t i = 0; i < count; ++i) sums[i] = 0;
      in_fours(0, static_cast<int64_t>(taps.size()), [&]<int taps_at_once>(int64_t k) {
        const A* row[taps_at_once];
        A weight[taps_at_once];
        for (int t = 0; t < taps_at_once; ++t) {
          const Tap<A>& tap = taps[static_cast<size_t>(k + t)];
          row[t] = rows[tap.row] + tap.offset + at;
          weight[t] = tap.weight;
        }
        for (int64_t i = 0; i < count; ++i) {
          A sum = sums[i];
          for (int t = 0; t < taps_at_once; ++t) sum += row[t][i] * weight[t];
          sums[i] = sum;
        }
      });
      std::copy_n(sums, std::min(count, n - at), out + at);
    }
  });
}

template <class V, class A>
void correlate_as(const View& in, const View& out, std::span<const WindowAxis> axes,
                  std::span<const float> weights, Border border, A fill, Arena& scratch) {
  constexpr DType kType = sizeof(A) == 4 ? DType::kFloat32 : DType::kFloat64;
  std::vector<Tap<A>> taps;
  A* sums = nullptr;
  for_each_window_row<A, ConvertedRow<V, A>>(
      in, out, axes, border, fill, scratch, [&](const auto& rows, A* const* list, std::byte* to) {
        if (!sums) {
          sums = scratch.array<A>(static_cast<size_t>(rows.count()));
          taps = taps_of<A>(weights, rows.width(), rows.inner());
        }
        correlate_row<A>(taps, list, sums, rows.count());
        convert_row(sums, kType, to, out.dtype, rows.count());
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
