// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/median.h"

#include <array>
#include <optional>
#include <vector>

#include "kernels/neighbourhood/byte_medians.h"
#include "kernels/neighbourhood/key_rows.h"
#include "kernels/neighbourhood/window_rows.h"

namespace stoker {
namespace {

// Elements of a row that are made at once.
template <class K>
constexpr int64_t kChunk = 2048 / sizeof(K);
constexpr int64_t kMargin = 256;  // room for their neighbours
constexpr int64_t kMostCounted =
    255;  // elements of a window, where these and their counts are bytes

// Every other element, from `kFirst` on.
template <size_t kFirst, class K, size_t n, size_t... I>
std::array<K, sizeof...(I)> every_other(const std::array<K, n>& a, std::index_sequence<I...>) {
  return {a[kFirst + 2 * I]...};
}
template <size_t kFirst, class K, size_t n, size_t... I>
std::array<K, sizeof...(I)> part(const std::array<K, n>& a, std::index_sequence<I...>) {
  return {a[kFirst + I]...};
}

// std::min and std::max take references, and GCC would make comparisons and masks of them.
template <class K>
K least(K a, K b) {
  return a < b ? a : b;
}
template <class K>
K most(K a, K b) {
  return a > b ? a : b;
}

// Batcher's merge of two sorted lists, without branches: their even and their odd elements are
// merged apart, and then at most neighbours are in the wrong order.
template <class K, size_t m, size_t n>
std::array<K, m + n> merged(const std::array<K, m>& a, const std::array<K, n>& b) {
  if constexpr (m == 0) {
    return b;
  } else if constexpr (n == 0) {
    return a;
  } else if constexpr (m == 1 && n == 1) {
    return {least(a[0], b[0]), most(a[0], b[0])};
  } else {
    const auto even = merged(every_other<0>(a, std::make_index_sequence<(m + 1) / 2>()),
                             every_other<0>(b, std::make_index_sequence<(n + 1) / 2>()));
    const auto odd = merged(every_other<1>(a, std::make_index_sequence<m / 2>()),
                            every_other<1>(b, std::make_index_sequence<n / 2>()));
    std::array<K, m + n> all;
    const auto at = [&]<size_t k>(std::integral_constant<size_t, k>) {
      constexpr size_t pair = (k + 1) / 2;  // of odd[pair - 1] and even[pair]
      if constexpr (k == 0) return even[0];
      else if constexpr (pair >= even.size()) return odd[pair - 1];
      else if constexpr (pair > odd.size()) return even[k - odd.size()];
      else if constexpr (k % 2) return least(odd[pair - 1], even[pair]);
      else return most(odd[pair - 1], even[pair]);
    };
    [&]<size_t... k>(std::index_sequence<k...>) {
      ((all[k] = at(std::integral_constant<size_t, k>())), ...);
    }(std::make_index_sequence<m + n>());
    return all;
  }
}

template <class K, size_t n>
std::array<K, n> sorted(const std::array<K, n>& a) {
  if constexpr (n < 2) return a;
  else
    return merged(sorted(part<0>(a, std::make_index_sequence<n / 2>())),
                  sorted(part<n / 2>(a, std::make_index_sequence<n - n / 2>())));
}

// Element `rank` of those in `some` and in the columns from `k` on, sorted together. Elements of
// `some` too far from that rank are left out.
template <size_t size, size_t k, size_t rank, class K, size_t n, class Column>
K median_of(const std::array<K, n>& some, const Column& column) {
  if constexpr (k == size) {
    return some[rank];
  } else {
    constexpr size_t rest = (size - k) * size;
    constexpr size_t first = rank > rest ? rank - rest : 0, end = std::min(rank + 1, n);
    const auto kept = part<first>(some, std::make_index_sequence<end - first>());
    return median_of<size, k + 1, rank - first>(merged(kept, column(k)), column);
  }
}

template <class K>
K median_of_three(K a, K b, K c) {
  return most(least(a, b), least(most(a, b), c));
}
template <class K>
K median_of(const std::array<K, 3>& a, const std::array<K, 3>& b, const std::array<K, 3>& c) {
  return median_of_three(most(most(a[0], b[0]), c[0]), median_of_three(a[1], b[1], c[1]),
                         least(least(a[2], b[2]), c[2]));
}

// The medians of n windows of 3 x 3. Sorting columns anew takes less time than keeping them.
template <class K>
void medians_of_3x3(const K* a, const K* b, const K* c, int64_t step, K* __restrict out,
                    int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const auto column = [&](int64_t k) {
      const int64_t at = i + k * step;
      return sorted(std::array<K, 3>{a[at], b[at], c[at]});
    };
    out[i] = median_of(column(0), column(1), column(2));
  }
}

// The medians of n windows of `size` x `size`. Requires: n <= kChunk<K>; (size - 1) * step <=
// kMargin.
template <size_t size, class K>
void small_medians(const K* const* rows, int64_t step, K* out, int64_t n) {
  std::array<const K*, size> row;
  std::copy_n(rows, size, row.begin());
  at_cpu_level([=] {
    if constexpr (size == 3) {
      medians_of_3x3(row[0], row[1], row[2], step, out, n);
    } else {
      [=]<size_t... j>(std::index_sequence<j...>) {
        K columns[size][kChunk<K> + kMargin];
        for (int64_t i = 0; i < rounded_up(n + int64_t{size - 1} * step); ++i) {
          const auto column = sorted(std::array<K, size>{row[j][i]...});
          ((columns[j][i] = column[j]), ...);
        }
        for (int64_t i = 0; i < n; ++i) {
          const auto column = [&](size_t k) {
            return std::array<K, size>{columns[j][i + static_cast<int64_t>(k) * step]...};
          };
          out[i] = median_of<size, 1, size * size / 2>(column(0), column);
        }
      }(std::make_index_sequence<size>());
    }
  });
}

// The medians of n windows of elements list[k][i]: Note [Medians]. Requires: n <= kChunk<K>; K
// holds the length of the list.
template <class K>
void any_medians(const K* const* list, int64_t length, K* out, int64_t n) {
  const auto half = static_cast<K>(length / 2);
  at_cpu_level([=] {
    K found[kChunk<K>], tried[kChunk<K>], smaller[kChunk<K>];
    std::fill_n(found, n, K{0});
    for (K bit = SortKey<K>::kSign; bit; bit = static_cast<K>(bit >> 1)) {
      for (int64_t i = 0; i < n; ++i) tried[i] = static_cast<K>(found[i] | bit), smaller[i] = 0;
      in_fours(0, length, [&]<int lists>(int64_t k) {
        const K* row[lists];
        for (int l = 0; l < lists; ++l) row[l] = list[k + l];
        for (int64_t i = 0; i < n; ++i) {
          K sum = smaller[i];
          for (int l = 0; l < lists; ++l) sum = static_cast<K>(sum + (row[l][i] < tried[i]));
          smaller[i] = sum;
        }
      });
      for (int64_t i = 0; i < n; ++i) found[i] = smaller[i] <= half ? tried[i] : found[i];
    }
    std::copy_n(found, n, out);
  });
}

template <class V>
void median_as(const View& in, const View& out, std::span<const WindowAxis> axes, Arena& scratch) {
  using K = typename SortKey<V>::Key;
  std::optional<ByteMedians> large;
  std::vector<const K*> some, moved;
  const int64_t height = axes[0].size, width = axes[1].size;
  const bool is_large = sizeof(V) == 1 && height * width > kMostCounted;
  const auto make = [&](const auto& rows, K* const* list, std::byte* to) {
    const int64_t step = rows.inner(), count = rows.count();
    if constexpr (sizeof(V) == 1) {
      if (is_large) {
        if (!large) large.emplace(height, width, step, count, scratch);
        std::vector<K> made(static_cast<size_t>(count));
        large->run(list, rows.left(), made.data());
        return KeyRow<V>::store(made.data(), to, count);
      }
    }
    const bool fits = height == width && (width - 1) * step <= kMargin;
    const bool is_small = fits && (width == 3 || width == 5);
    some.clear();
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < (is_small ? 1 : width); ++x) some.push_back(list[y] + x * step);
    moved.resize(some.size());
    const auto make_some = [&](int64_t at, K* made, int64_t n) {
      for (size_t k = 0; k < some.size(); ++k) moved[k] = some[k] + at;
      if (is_small && width == 3) small_medians<3>(moved.data(), step, made, n);
      else if (is_small) small_medians<5>(moved.data(), step, made, n);
      else any_medians(moved.data(), height * width, made, n);
    };
    K buffer[kChunk<K>];
    const bool in_place = SortKey<V>::kIsValue && count >= kRowRound;
    for (int64_t at = 0, n; at < count; at += n) {
      n = std::min(kChunk<K>, count - at);
      if (in_place) {  // of the last, some are made twice
        if (n < kRowRound) at = count - kRowRound;
        n = std::max(n / kRowRound, int64_t{1}) * kRowRound;
        make_some(at, reinterpret_cast<K*>(to) + at, n);
      } else {
        make_some(at, buffer, rounded_up(n));
        KeyRow<V>::store(buffer, to + at * int64_t{sizeof(V)}, n);
      }
    }
  };
  for_each_window_row<K, KeyRow<V>>(in, out, axes, Border::kClamp, K{}, scratch, make, is_large);
}

}  // namespace

void median(const View& in, const View& out, std::span<const WindowAxis> axes, Arena& scratch) {
  with_type(in.dtype, [&](auto v) { median_as<decltype(v)>(in, out, axes, scratch); });
}

}  // namespace stoker
