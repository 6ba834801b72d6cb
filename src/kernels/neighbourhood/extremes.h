// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The smallest and the largest values of windows.
#pragma once
#include "base/view.h"
#include "kernels/neighbourhood/border.h"
#include "kernels/neighbourhood/sort_key.h"
#include "memory/arena.h"

namespace stoker {

struct Smallest {
  template <class K>
  STOKER_HD static K of(K a, K b) {
    return b < a ? b : a;
  }
  template <class V>
  static constexpr auto kNone = SortKey<V>::kLast;  // of no values
};
struct Largest {
  template <class K>
  STOKER_HD static K of(K a, K b) {
    return a < b ? b : a;
  }
  template <class V>
  static constexpr auto kNone = typename SortKey<V>::Key{0};
};

// Sets `out`, which is dense, to the smallest or largest values, in the order of SortKey, of the
// windows of `in`, which has its dtype. Border::kConstant takes no part. Requires: two axes, in
// order and next to each other; `in` covers window_demand() of `out`, without overlap.
template <class Extreme>
void extremes(const View& in, const View& out, std::span<const WindowAxis> axes, Border border,
              Arena& scratch);

}  // namespace stoker
