// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops that compute each element from its number in the full shape, the last axis fastest.
#pragma once
#include <algorithm>
#include <type_traits>

#include "base/chance/philox.h"
#include "kernels/convert.h"
#include "kernels/elements/draws.h"
#include "kernels/elements/walk.h"
#include "kernels/levels.h"

namespace stoker {

// Calls values(first, n, T* to) for n elements whose numbers follow each other, and converts what
// it writes to the dtype of `out`. n is at most kFillChunk.
inline constexpr int64_t kFillChunk = 1024;
template <class T, class Values>
void fill_rows(const View& out, const Values& values) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  constexpr DType kType = std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64;
  if (out.shape.volume() == 0) return;
  const View numbers = View::window(nullptr, kType, Window::all(out.full), out.full);
  Track number = Track::of(numbers, out.origin);
  number.start /= int64_t{sizeof(T)};
  for (int a = 0; a < out.shape.rank; ++a) number.stride[a] /= int64_t{sizeof(T)};
  Walk<2> walk(out.shape, {Track::of(out, out.origin), number});
  alignas(64) T some[kFillChunk];
  do {
    const int64_t chunk = walk.step[1] == 1 ? kFillChunk : 1;
    std::byte* to = out.as<std::byte>() + walk.row[0];
    for (int64_t k = 0; k < walk.count; k += chunk) {
      const int64_t n = std::min(chunk, walk.count - k);
      values(walk.row[1] + k * walk.step[1], n, some);
      convert_row(some, kType, sizeof(T), to + k * walk.step[0], out.dtype, walk.step[0], n);
    }
  } while (walk.next());
}

template <class T, class F>
void fill(const View& out, const F& f) {
  fill_rows<T>(out, [&](int64_t first, int64_t n, T* to) {
    at_cpu_level([=] {
      for (int64_t k = 0; k < n; ++k) to[k] = f(first + k);
    });
  });
}

// Sets each element by its draws. F has `kDraws` and `kValues`, and its operator()(const uint32_t*
// draws, T* values) makes that many values. Set g of values comes from set g of draws.
template <class T, class F>
void fill_draws(const View& out, const Chance& chance, const F& f) {
  constexpr int kDraws = F::kDraws, kValues = F::kValues;
  fill_rows<T>(out, [&](int64_t first, int64_t n, T* to) {
    constexpr int64_t kSets = kFillChunk / kValues + 2;
    alignas(64) uint32_t draws[kSets * kDraws];
    alignas(64) T values[kSets * kValues];
    const int64_t begin = first / kValues, sets = (first + n - 1) / kValues - begin + 1;
    draw_words(chance, static_cast<uint64_t>(begin) * kDraws, draws, sets * kDraws);
    T* made = first % kValues == 0 && n % kValues == 0 ? to : values;
    at_cpu_level([=, &draws] {
      for (int64_t g = 0; g < sets; ++g) f(draws + g * kDraws, made + g * kValues);
    });
    if (made != to) std::copy_n(values + first % kValues, n, to);
  });
}

}  // namespace stoker
