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

// Adds kTaps taps to n sums, of which the first is element `at` of the row.
template <int kTaps, class A>
void add_taps(const Tap<A>* taps, const A* const* rows, int64_t at, A* sums, int64_t n) {
  const A* row[kTaps];
  A weight[kTaps];
  for (int k = 0; k < kTaps; ++k) {
    row[k] = rows[taps[k].row] + taps[k].offset + at;
    weight[k] = taps[k].weight;
  }
  for (int64_t i = 0; i < n; ++i) {
    A sum = sums[i];
    for (int k = 0; k < kTaps; ++k) sum += row[k][i] * weight[k];
    sums[i] = sum;
  }
}

template <class A>
void correlate_row(std::span<const Tap<A>> taps, const A* const* rows, A* out, int64_t n) {
  constexpr int64_t kChunk = 512;
  constexpr size_t kGroup = 4;
  at_cpu_level([=] {
    for (int64_t at = 0; at < n; at += kChunk) {
      const int64_t count = std::min(kChunk, n - at);
      A sums[kChunk];
      for (int64_t i = 0; i < count; ++i) sums[i] = 0;
      size_t k = 0;
      for (; k + kGroup <= taps.size(); k += kGroup)
        add_taps<kGroup>(&taps[k], rows, at, sums, count);
      for (; k < taps.size(); ++k) add_taps<1>(&taps[k], rows, at, sums, count);
      for (int64_t i = 0; i < count; ++i) out[at + i] = sums[i];
    }
  });
}

}  // namespace

void correlate(const View& in, const View& out, std::span<const WindowAxis> axes,
               std::span<const float> weights, Border border, double fill, Arena& scratch) {
  const bool wide = is_wide(in.dtype) || is_wide(out.dtype);
  const auto run = [&]<class V, class A>(V, A) {
    constexpr DType kType = sizeof(A) == 4 ? DType::kFloat32 : DType::kFloat64;
    std::vector<Tap<A>> taps;
    A* sums = nullptr;
    for_each_window_row<A, ConvertedRow<V, A>>(
        in, out, axes, border, static_cast<A>(fill), scratch,
        [&](const auto& rows, const A* const* list, std::byte* to) {
          if (!sums) {
            sums = scratch.array<A>(static_cast<size_t>(rows.count()));
            for (size_t k = 0; k < weights.size(); ++k) {
              const auto at = static_cast<int64_t>(k);
              if (weights[k] != 0)
                taps.push_back({at / rows.width(), at % rows.width() * rows.inner(),
                                static_cast<A>(weights[k])});
            }
          }
          correlate_row<A>(taps, list, sums, rows.count());
          convert_row(sums, kType, to, out.dtype, rows.count());
        });
  };
  with_type(in.dtype, [&](auto v) {
    if constexpr (kIsWide<decltype(v)>) run(v, double{});
    else if (wide) run(v, double{});
    else run(v, float{});
  });
}

}  // namespace stoker
