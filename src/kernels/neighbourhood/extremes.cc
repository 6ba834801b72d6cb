// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/extremes.h"

#include "kernels/neighbourhood/key_rows.h"
#include "kernels/neighbourhood/window_rows.h"

namespace stoker {
namespace {

template <class Extreme, class K>
void of_columns(const K* const* rows, int64_t height, K* out, int64_t n) {
  constexpr int64_t kChunk = 1024;
  at_cpu_level([=] {
    for (int64_t at = 0; at < n; at += kChunk) {
      const int64_t count = std::min(kChunk, rounded_up(n - at));
      K found[kChunk];
      std::copy_n(rows[0] + at, count, found);
      in_fours(1, height, [&]<int rows_at_once>(int64_t y) {
        const K* row[rows_at_once];
        for (int k = 0; k < rows_at_once; ++k) row[k] = rows[y + k] + at;
        for (int64_t i = 0; i < count; ++i)
          for (int k = 0; k < rows_at_once; ++k) found[i] = Extreme::of(found[i], row[k][i]);
      });
      std::copy_n(found, count, out + at);
    }
  });
}

template <class Extreme, class K>
void of_pairs(const K* __restrict in, int64_t apart, K* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = Extreme::of(in[i], in[i + apart]);
}

// The extremes of `width` elements of `some`, `step` apart: of two, four and so on, and at last of
// two parts that overlap. Both buffers are overwritten; one of them is returned.
template <class Extreme, class K>
const K* of_lines(K* some, K* other, int64_t width, int64_t step, int64_t n) {
  const auto join = [&](int64_t apart, int64_t length) {
    at_cpu_level([=] { of_pairs<Extreme>(some, apart, other, rounded_up(length)); });
    std::swap(some, other);
  };
  int64_t span = 1;
  for (; 2 * span <= width; span *= 2) join(span * step, n + (width - 2 * span) * step);
  if (span < width) join((width - span) * step, n);
  return some;
}

}  // namespace

template <class Extreme>
void extremes(const View& in, const View& out, std::span<const WindowAxis> axes, Border border,
              Arena& scratch) {
  with_type(in.dtype, [&](auto v) {
    using V = decltype(v);
    using K = typename SortKey<V>::Key;
    K* buffers[2] = {};
    for_each_window_row<K, KeyRow<V>>(
        in, out, axes, border, Extreme::template kNone<V>, scratch,
        [&](const auto& rows, K* const* list, std::byte* to) {
          const int64_t n = rows.count(), read = n + (rows.width() - 1) * rows.inner();
          if (!buffers[0])
            for (K*& b : buffers) b = scratch.array<K>(static_cast<size_t>(read + rows.kRoom));
          of_columns<Extreme>(list, rows.height(), buffers[0], read);
          const K* made = of_lines<Extreme>(buffers[0], buffers[1], rows.width(), rows.inner(), n);
          KeyRow<V>::store(made, to, n);
        });
  });
}
template void extremes<Smallest>(const View&, const View&, std::span<const WindowAxis>, Border,
                                 Arena&);
template void extremes<Largest>(const View&, const View&, std::span<const WindowAxis>, Border,
                                Arena&);

}  // namespace stoker
