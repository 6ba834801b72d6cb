// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/moment.h"

namespace stoker {

void moments(const View& in, const bool* reduced, const double* centres, const Averaging& moment,
             const View& out, Arena& scratch) {
  const int64_t volume = out.shape.volume();
  if (volume == 0) return;
  int64_t count = 1;
  for (int a = 0; a < in.shape.rank; ++a)
    if (reduced[a]) count *= in.shape[a];
  auto* numbers = scratch.array<double>(static_cast<size_t>(volume));
  const View sums = View::dense(numbers, DType::kFloat64, out.shape);
  if (centres) sum_squared_distances(in, reduced, centres, sums, scratch);
  else wide_sum(in, reduced, sums, scratch);
  for (int64_t k = 0; k < volume; ++k) numbers[k] = moment.of(numbers[k], count);
  convert_row(numbers, DType::kFloat64, out.data, out.dtype, volume);
}

}  // namespace stoker
