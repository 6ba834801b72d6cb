// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop for operators that work element by element, wherever the elements lie. Pure;
// thread-safe.
#pragma once
#include "kernels/strided.h"

namespace stoker {

// Calls f(const From* in, To* out, int64_t count) for runs of elements that follow each other in
// both views. Runs are as long as possible, and together they pass every element of `out` once,
// with the element of `in` at the same full position. Requires: equal ranks; `in` covers what `out`
// covers; From and To are the types of their elements.
template <class From, class To = From, class F>
void for_each_run(const View& in, const View& out, F f) {
  if (out.shape.volume() == 0) return;
  int outer = out.shape.rank;  // axes before this one are stepped through
  int64_t count = 1;
  while (outer > 0 && in.strides[outer - 1] == count * int64_t{sizeof(From)} &&
         out.strides[outer - 1] == count * int64_t{sizeof(To)})
    count *= out.shape[--outer];
  const Strided from = Strided::of(in), to = Strided::of(out);
  Shape at = out.origin;
  for (int a = 0; a >= 0;) {  // the axis that was stepped last; -1: all are at their ends
    f(reinterpret_cast<const From*>(from.at(at)),
      out.as<To>() + (to.at(at) - to.data) / int64_t{sizeof(To)}, count);
    for (a = outer - 1; a >= 0 && ++at[a] == out.origin[a] + out.shape[a]; --a)
      at[a] = out.origin[a];
  }
}

}  // namespace stoker
