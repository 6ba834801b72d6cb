// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop of operators that work element by element.
#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include "kernels/elements/walk.h"
#include "kernels/levels.h"

namespace stoker {

namespace detail {

// By value, as copies stay in registers, whatever is written; without them nothing vectorises.
template <class To, class... From, class F, size_t... I>
void map_rows(F f, Walk<sizeof...(From) + 1> walk, std::byte* out,
              const std::array<const std::byte*, sizeof...(From)>& in, std::index_sequence<I...>) {
  const bool dense =
      (walk.step[0] == sizeof(To)) && (... && (walk.step[I + 1] == int64_t{sizeof(From)}));
  do {
    const int64_t count = walk.count;
    std::byte* to = out + walk.row[0];
    [[maybe_unused]] const std::array<const std::byte*, sizeof...(I)> from{in[I] +
                                                                           walk.row[I + 1]...};
    if (dense) {
      for (int64_t k = 0; k < count; ++k)
        reinterpret_cast<To*>(to)[k] = f(reinterpret_cast<const From*>(from[I])[k]...);
    } else {
      for (int64_t k = 0; k < count; ++k)
        *reinterpret_cast<To*>(to + k * walk.step[0]) =
            f(*reinterpret_cast<const From*>(from[I] + k * walk.step[I + 1])...);
    }
  } while (walk.next());
}

}  // namespace detail

// Sets each element of `out`, of type To, to f of the elements of `in`, of types From, at the same
// full position. Requires: equal ranks; every input covers `out` and does not overlap it; F is a
// functor without side effects. Without inputs, f() gives all elements.
template <class To, class... From, class F, class... Views>
void map(const View& out, const F& f, const Views&... in) {
  static_assert(sizeof...(From) == sizeof...(Views), "a type for each input");
  if (out.shape.volume() == 0) return;
  const Walk<sizeof...(From) + 1> walk(out.shape,
                                       {Track::of(out, out.origin), Track::of(in, out.origin)...});
  const std::array<const std::byte*, sizeof...(From)> from{in.template as<const std::byte>()...};
  at_cpu_level([&] {
    detail::map_rows<To, From...>(f, walk, out.as<std::byte>(), from,
                                  std::index_sequence_for<From...>());
  });
}

}  // namespace stoker
