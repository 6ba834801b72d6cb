// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of sort keys (sort_key.h), as WindowRows takes them.
#pragma once
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
    // Mere copies are not faster at a better level (measured on AVX-512).
    if constexpr (K::kIsValue) convert_all(from, to, n, f);
    else at_cpu_level([=] { convert_all(from, to, n, f); });
  }
  template <class From, class To, class F>
  static void convert_all(const From* from, To* to, int64_t n, F f) {
    for (int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
  }
};

}  // namespace stoker
