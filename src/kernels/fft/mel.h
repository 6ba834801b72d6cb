// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Triangular filters of frequencies, evenly spaced in mel, and any others.
#pragma once
#include <vector>

#include "base/view.h"

namespace stoker {

// kSlaney: linear in Hz up to 1000 Hz, and logarithmic above (Slaney: Auditory toolbox; 1998).
// kHtk: the logarithm of 1 + Hz / 700 (Young et al.: The HTK book).
enum class MelFormula : uint8_t { kSlaney, kHtk };

// Where filters begin, peak and end: filter i at the edges i, i + 1 and i + 2, in Hz.
std::vector<double> mel_edges(MelFormula formula, double low, double high, int filters);

// A filter takes the bins [begin, end), times weights[0], weights[1], ...
struct MelFilter {
  int64_t begin, end;
  const float* weights;
};
struct MelFilters {
  std::vector<float> weights;  // filter after filter
  std::vector<MelFilter> filters;

  // For `bins` frequencies from 0 to `highest` Hz. With `normalize`, all triangles have the area 1.
  MelFilters(const std::vector<double>& edges, double highest, int64_t bins, bool normalize);
  // Filters that each take all `bins`; `all` has their weights, filter after filter.
  MelFilters(std::vector<float> all, int64_t bins);
  MelFilters(MelFilters&&) = default;  // a copy would point to the weights of the other
  // Where the weights lie, perhaps on a device.
  void point_to(const float* first);
};

// Sets `out`, a window of the filters' sums along the axis. Requires: both hold floats; `in` covers
// all bins of what `out` covers.
void sum_by_filters(const MelFilters& bank, const View& in, const View& out, int axis);

}  // namespace stoker
