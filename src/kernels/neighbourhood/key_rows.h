// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of sort keys (sort_key.h), as WindowRows takes them. Pure; thread-safe.
#pragma once
#include <cstring>

#include "kernels/levels.h"
#include "kernels/neighbourhood/sort_key.h"

namespace stoker {

template <class V>
struct KeyRow {
  using K = SortKey<V>;
  using Key = typename K::Key;

  static void row(const std::byte* from, Key* to, int64_t n) {
    convert(reinterpret_cast<const V*>(from), to, n, [](V v) { return K::of(v); });
  }
  static void store(const Key* from, std::byte* to, int64_t n) {
    convert(from, reinterpret_cast<V*>(to), n, [](Key key) { return K::value(key); });
  }

 private:
  template <class From, class To, class F>
  static void convert(const From* from, To* to, int64_t n, F f) {
    if constexpr (K::kIsValue) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(V));
    } else {
      at_cpu_level([=] {
        const From* in = from;
        To* out = to;
        for (const From* end = in + n; in < end;) *out++ = f(*in++);
      });
    }
  }
};

}  // namespace stoker
