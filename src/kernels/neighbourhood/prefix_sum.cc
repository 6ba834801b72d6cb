// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/prefix_sum.h"

#include "kernels/convert.h"
#include "kernels/elements/walk.h"
#include "kernels/levels.h"

namespace stoker {
namespace {

// Adds up `count` rows of `n` elements, each onto the next one.
template <class V>
void run_along(V* rows, int64_t count, int64_t n) {
  at_cpu_level([=] {
    for (int64_t i = 1; i < count; ++i) {
      const V* __restrict before = rows + (i - 1) * n;
      V* __restrict row = rows + i * n;
      for (int64_t k = 0; k < n; ++k) row[k] += before[k];
    }
  });
}

template <class V>
void run_along_axes(const bool* summed, const View& out) {
  for (int a = 0; a < out.shape.rank; ++a) {
    if (!summed[a]) continue;
    int64_t inner = 1;
    for (int b = a + 1; b < out.shape.rank; ++b) inner *= out.shape[b];
    const int64_t piece = out.shape[a] * inner;
    for (int64_t at = 0; at < out.shape.volume(); at += piece)
      run_along(out.as<V>() + at, out.shape[a], inner);
  }
}

}  // namespace

DType prefix_sum_type(DType of) {
  if (info(of).is_float) return DType::kFloat64;
  return info(of).is_signed ? DType::kInt64 : DType::kUint64;
}

void prefix_sums(const View& in, const bool* summed, const View& out) {
  if (out.shape.volume() == 0) return;
  Walk<2> walk(in.shape, {{0, in.strides}, {0, out.strides}});
  do {
    convert_row(in.as<std::byte>() + walk.row[0], in.dtype, walk.step[0],
                out.as<std::byte>() + walk.row[1], out.dtype, walk.step[1], walk.count);
  } while (walk.next());
  if (out.dtype == DType::kFloat64) run_along_axes<double>(summed, out);
  else run_along_axes<uint64_t>(summed, out);  // what overflows wraps
}

}  // namespace stoker
