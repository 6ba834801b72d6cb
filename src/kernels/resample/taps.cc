// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/exact_math.h"
#include "kernels/resample/tap_rows.h"

namespace stoker {
namespace {

double centre(const ResampleAxis& a, int64_t o) {
  return a.lo + (static_cast<double>(o) + 0.5) * (a.hi - a.lo) / static_cast<double>(a.out);
}

// floor(x) as a position, clamped to [low, high]. x may lie far outside; NaN gives low.
int64_t position(double x, int64_t low, int64_t high) {
  if (!(x > static_cast<double>(low))) return low;
  if (x >= static_cast<double>(high)) return high;
  return static_cast<int64_t>(std::floor(x));
}

double support(Filter f) {
  return f == Filter::kLanczos3 ? 3 : f == Filter::kCubic || f == Filter::kGaussian ? 2 : 1;
}

double cubic(double x) {
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

// sin(pi x) sin(pi x / 3) / (pi^2 x^2 / 3). Exact zeros, so that an axis that keeps its scale keeps
// its values.
double lanczos3(double x) {
  if (x == 0) return 1;
  if (x >= 3 || x == std::floor(x)) return 0;
  const double a = 0x1.921fb54442d18p+1 * x;
  return 3 * exact::sin(a) * exact::sin(a / 3) / (a * a);
}

double gaussian(double x) { return exact::exp(-(x * x)); }

// On a line between two entries of Note [Gaussian table].
double tabled_gaussian(double x) {
  const double entry = std::floor(x * kGaussianEntries);
  const double from = entry / kGaussianEntries, to = (entry + 1) / kGaussianEntries;
  const double low = from <= 2 ? gaussian(from) : 0, high = to <= 2 ? gaussian(to) : 0;
  return low + (high - low) * (x * kGaussianEntries - entry);
}

double weight(const ResampleAxis& a, double x) {
  x = std::fabs(x);
  switch (a.filter) {
    case Filter::kCubic: return cubic(x);
    case Filter::kLanczos3: return lanczos3(x);
    case Filter::kGaussian: return is_tabled(a) ? tabled_gaussian(x) : x < 2 ? gaussian(x) : 0;
    default: return x < 1 ? 1 - x : 0;
  }
}

TapInterval nearest(const ResampleAxis& a, int64_t extent, int64_t o) {
  const int64_t p = position(centre(a, o), 0, extent - 1);
  return {p, p + 1};
}

// The positions that count for a filter at output o, also those outside of the input.
TapInterval reach(const ResampleAxis& a, int64_t extent, int64_t o) {
  if (is_tabled(a)) return tabled_reach(a, extent, o);
  const double c = centre(a, o);
  const int64_t outside = a.clamped ? kMostOutside : 0;
  return {position(c - a.radius + 0.5, -outside, extent + outside),
          position(c + a.radius + 0.5, -outside, extent + outside)};
}

float float32(double x) { return static_cast<float>(std::clamp(x, -1e30, 1e30)); }

// What float32 arithmetic found, rounded up, but at most half a position from the exact value.
int64_t rounded_up(float found, double exact) {
  const auto up = [](double x) { return position(std::ceil(x), -(1LL << 40), 1LL << 40); };
  return std::clamp(up(found), up(exact - 0.5), up(exact + 0.5));
}

// The filter's radius by way of the Gaussian's deviation, which rounds: it may be a bit too small.
float tabled_radius(double radius) {
  const double per_deviation = 2 * std::numbers::sqrt2;
  const float deviation = float32(float32(radius) / per_deviation);
  return 32 / (32 / (deviation * static_cast<float>(per_deviation)));
}

TapInterval two_taps(const ResampleAxis& a, int64_t extent, int64_t o, double* weights) {
  const double x = centre(a, o) - 0.5, left = std::floor(x);
  const TapInterval r = tap_interval(a, extent, o);
  if (r.end - r.begin == 1) {
    weights[0] = 1;
    return r;
  }
  weights[0] = 1 - (x - left);
  weights[1] = x - left;
  return weights[1] == 0 ? TapInterval{r.begin, r.begin + 1} : r;
}

template <class W>
void set_weights(std::span<const double> from, W* to) {
  if constexpr (std::is_same_v<W, int16_t>) quantise(from, to);
  else std::transform(from.begin(), from.end(), to, [](double w) { return static_cast<W>(w); });
}

}  // namespace

TapInterval tabled_reach(const ResampleAxis& a, int64_t extent, int64_t o) {
  const float lo = float32(a.lo), hi = float32(a.hi), radius = tabled_radius(a.radius);
  const float scale = (hi - lo) / static_cast<float>(a.out);
  const float first = lo + 0.5F * scale - 0.5F - radius;
  const int64_t begin =
      rounded_up(static_cast<float>(o) * scale + first, centre(a, o) - 0.5 - a.radius);
  const int64_t end = begin + rounded_up(2 * radius, 2 * a.radius);
  const int64_t low = -kMostOutside, high = extent + kMostOutside;
  return {std::clamp(begin, low, high), std::clamp(end, low, high)};
}

TapInterval tap_interval(const ResampleAxis& a, int64_t extent, int64_t o) {
  if (a.filter == Filter::kNearest) return nearest(a, extent, o);
  if (a.filter == Filter::kLinear) {
    const double left = std::floor(centre(a, o) - 0.5);
    return {position(left, 0, extent - 1), position(left + 1, 0, extent - 1) + 1};
  }
  const TapInterval r = reach(a, extent, o);
  if (r.begin >= r.end) return nearest(a, extent, o);
  return {std::clamp<int64_t>(r.begin, 0, extent - 1), std::clamp<int64_t>(r.end, 1, extent)};
}

int64_t most_taps(const ResampleAxis& a, int64_t extent) {
  if (a.filter == Filter::kNearest) return 1;
  if (a.filter == Filter::kLinear) return std::min<int64_t>(extent, 2);
  return std::max<int64_t>(1, position(2 * a.radius + 2, 1, extent));
}

TapInterval taps_of(const ResampleAxis& a, int64_t extent, int64_t o, double* weights) {
  if (a.filter == Filter::kLinear) return two_taps(a, extent, o, weights);
  weights[0] = 1;
  if (a.filter == Filter::kNearest) return nearest(a, extent, o);
  TapInterval r = tap_interval(a, extent, o);
  const double c = centre(a, o), scale = support(a.filter) / a.radius;
  const TapInterval all = reach(a, extent, o);
  std::fill(weights, weights + (r.end - r.begin), 0);
  double sum = 0, size = 0;
  for (int64_t i = all.begin; i < all.end; ++i) {
    const double w = weight(a, (static_cast<double>(i) - c + 0.5) * scale);
    weights[std::clamp<int64_t>(i, r.begin, r.end - 1) - r.begin] += w;
    sum += w;
    size += std::fabs(w);
  }
  // A sum near zero would give too large weights for fixed point. No usual filter comes near it.
  if (!(sum > 0 && size <= 2.9 * sum)) {
    weights[0] = 1;
    const int64_t p = std::clamp(nearest(a, extent, o).begin, r.begin, r.end - 1);
    return {p, p + 1};
  }
  int64_t skip = 0;
  while (weights[skip] == 0) ++skip;
  while (weights[r.end - r.begin - 1] == 0) --r.end;
  for (int64_t i = skip; i < r.end - r.begin; ++i) weights[i - skip] = weights[i] / sum;
  return {r.begin + skip, r.end};
}

bool is_identity(const ResampleAxis& a, int64_t extent) {
  if (a.lo != 0 || a.hi != static_cast<double>(extent) || a.out != extent ||
      a.filter == Filter::kGaussian)
    return false;
  return a.filter == Filter::kNearest || a.filter == Filter::kLinear ||
         a.radius <= support(a.filter);
}

// Rounds the running sum and not each weight: what one tap loses goes to the next, so hundreds of
// small weights neither drift nor leave a remainder.
void quantise(std::span<const double> weights, int16_t* out) {
  constexpr double kOne = 1 << kTapBits;
  double sum = 0;
  int32_t given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    const auto want = i + 1 == weights.size() ? 1 << kTapBits
                                              : static_cast<int32_t>(std::floor(sum * kOne + 0.5));
    out[i] = static_cast<int16_t>(want - given);
    given = want;
  }
}

template <class W>
void fill_row(const ResampleAxis& a, int64_t extent, const TapRows<W>& rows, int64_t i,
              double* exact) {
  const TapInterval r = taps_of(a, extent, rows.start + rows.step * i, exact);
  const auto n = static_cast<int32_t>(r.end - r.begin);
  W* row = rows.weights + i * rows.pitch;
  set_weights<W>({exact, static_cast<size_t>(n)}, row);
  std::fill(row + n, row + rows.pitch, W{0});
  rows.first[i] = static_cast<int32_t>(r.begin);
  rows.taps[i] = n;
}

template <class W>
TapTable<W> tap_table(const ResampleAxis& a, int64_t extent, int64_t start, int64_t step,
                      int64_t count, Arena& arena) {
  const int64_t most = most_taps(a, extent), pitch = most + (most & 1);
  const TapRows<W> rows{start,
                        step,
                        count,
                        pitch,
                        arena.array<int32_t>(static_cast<size_t>(count)),
                        arena.array<int32_t>(static_cast<size_t>(count)),
                        arena.array<W>(static_cast<size_t>(count * pitch)),
                        arena.array<double>(static_cast<size_t>(tap_scratch(pitch)))};
  if (a.filter != Filter::kNearest) fill_rows(a, extent, rows);
  else
    for (int64_t i = 0; i < count; ++i) fill_row(a, extent, rows, i, rows.scratch);
  TapTable<W> t{count, pitch, rows.first, rows.taps, rows.weights, extent, 0};
  for (int64_t i = 0; i < count; ++i) {
    t.begin = std::min<int64_t>(t.begin, t.first[i]);
    t.end = std::max<int64_t>(t.end, t.first[i] + t.taps[i]);
  }
  return t;
}

template void fill_row(const ResampleAxis&, int64_t, const TapRows<float>&, int64_t, double*);
template void fill_row(const ResampleAxis&, int64_t, const TapRows<double>&, int64_t, double*);
template void fill_row(const ResampleAxis&, int64_t, const TapRows<int16_t>&, int64_t, double*);
template TapTable<float> tap_table(const ResampleAxis&, int64_t, int64_t, int64_t, int64_t, Arena&);
template TapTable<double> tap_table(const ResampleAxis&, int64_t, int64_t, int64_t, int64_t,
                                    Arena&);
template TapTable<int16_t> tap_table(const ResampleAxis&, int64_t, int64_t, int64_t, int64_t,
                                     Arena&);

}  // namespace stoker
