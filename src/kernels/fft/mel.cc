// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fft/mel.h"

#include <algorithm>

#include "base/exact_math.h"
#include "kernels/elements/walk.h"
#include "kernels/levels.h"

namespace stoker {
namespace {

// The mel scales without their factor, which does not matter where steps are even.
double to_mel(MelFormula formula, double hz) {
  if (formula == MelFormula::kHtk) return exact::log(1 + hz / 700);
  return hz < 1000 ? hz * 3 / 200 : 15 + 27 * exact::log(hz / 1000) / exact::log(6.4);
}
double to_hz(MelFormula formula, double mel) {
  if (formula == MelFormula::kHtk) return 700 * (exact::exp(mel) - 1);
  return mel < 15 ? mel * 200 / 3 : 1000 * exact::exp((mel - 15) * exact::log(6.4) / 27);
}

constexpr int64_t kChunk = 64;

// The sums of one filter for n values in a row, whose first bins begin at `row`.
void add_bins(const MelFilter& f, const std::byte* row, int64_t bin_step, int64_t step, int64_t n,
              float* sum) {
  for (int64_t b = 0; b < f.end - f.begin; ++b, row += bin_step) {
    const float weight = f.weights[b];
    if (step == int64_t{sizeof(float)})
      for (int64_t k = 0; k < n; ++k) sum[k] += weight * reinterpret_cast<const float*>(row)[k];
    else
      for (int64_t k = 0; k < n; ++k)
        sum[k] += weight * *reinterpret_cast<const float*>(row + k * step);
  }
}

}  // namespace

std::vector<double> mel_edges(MelFormula formula, double low, double high, int filters) {
  const double begin = to_mel(formula, low), step = (to_mel(formula, high) - begin) / (filters + 1);
  std::vector<double> edges{low};
  for (int i = 1; i <= filters; ++i) edges.push_back(to_hz(formula, begin + i * step));
  edges.push_back(high);
  return edges;
}

MelFilters::MelFilters(const std::vector<double>& edges, double highest, int64_t bins,
                       bool normalize) {
  const double width = highest / static_cast<double>(std::max<int64_t>(bins - 1, 1));
  for (size_t i = 0; i + 2 < edges.size(); ++i) {
    const double low = edges[i], middle = edges[i + 1], high = edges[i + 2];
    MelFilter t{std::min(static_cast<int64_t>(low / width) + 1, bins), 0, nullptr};
    for (t.end = t.begin; t.end < bins; ++t.end) {
      const double f = static_cast<double>(t.end) * width;
      if (f >= high) break;
      const double weight =
          f < middle ? std::max(f - low, 0.0) / (middle - low) : (high - f) / (high - middle);
      weights.push_back(static_cast<float>(normalize ? weight * 2 / (high - low) : weight));
    }
    filters.push_back(t);
  }
  point_to(weights.data());
}

MelFilters::MelFilters(std::vector<float> all, int64_t bins) : weights(std::move(all)) {
  filters.assign(bins > 0 ? weights.size() / static_cast<size_t>(bins) : 0, {0, bins, nullptr});
  point_to(weights.data());
}

void MelFilters::point_to(const float* first) {
  for (MelFilter& f : filters) {
    f.weights = first;
    first += f.end - f.begin;
  }
}

void sum_by_filters(const MelFilters& bank, const View& in, const View& out, int axis) {
  if (out.shape.volume() == 0) return;
  Shape box = out.shape, origin = out.origin;
  box[axis] = 1, origin[axis] = 0;
  Walk<2> walk(box, {Track::of(in, origin), {0, out.strides}});
  at_cpu_level([&] {
    do {
      for (int64_t first = 0; first < walk.count; first += kChunk) {
        const int64_t n = std::min(kChunk, walk.count - first), step = walk.step[0];
        const std::byte* from = in.as<std::byte>() + walk.row[0] + first * step;
        std::byte* to = out.as<std::byte>() + walk.row[1] + first * walk.step[1];
        for (int64_t m = 0; m < out.shape[axis]; ++m, to += out.strides[axis]) {
          const MelFilter& f = bank.filters[static_cast<size_t>(out.origin[axis] + m)];
          float sum[kChunk] = {};
          add_bins(f, from + f.begin * in.strides[axis], in.strides[axis], step, n, sum);
          for (int64_t k = 0; k < n; ++k) *reinterpret_cast<float*>(to + k * walk.step[1]) = sum[k];
        }
      }
    } while (walk.next());
  });
}

}  // namespace stoker
