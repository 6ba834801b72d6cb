// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/warp/place_filter.h"

#include <algorithm>

#include "kernels/levels.h"

namespace stoker {
namespace {

constexpr int kSome = 64;

// What PlaceTaps does for one place. Loops with one choice each become vectors.
template <Filter kFilter>
void find_weights(const int64_t* place, int n, float* to, int64_t pitch) {
  constexpr int kCount = PlaceTaps::count_of(kFilter);
  constexpr double kWhole = 0x1p32, kShift = 0x1p52;
  double part[kSome], sum[kSome], given[kCount][kSome];
  for (int i = 0; i < n; ++i) {
    const auto bits = static_cast<uint64_t>(place[i]) & 0xffffffff;
    part[i] = __builtin_bit_cast(double, bits | __builtin_bit_cast(uint64_t, kShift)) - kShift;
  }
  for (int i = 0; i < n; ++i) {
    const double rest = kWhole - part[i], least = part[i] < rest ? part[i] : rest;
    double w[kCount], all = 0;
    if constexpr (kFilter == Filter::kCubic) PlaceTaps::cubic(least * 0x1p-32, w);
    else PlaceTaps::lanczos(least * 0x1p-32, w);
    for (int k = 0; k < kCount; ++k) given[k][i] = w[k], all += w[k];
    sum[i] = all;
  }
  for (int k = 0; k < kCount; ++k) {
    const double *near = given[k], *mirrored = given[kCount - 1 - k];
    float* const weight = to + k * pitch;
    for (int i = 0; i < n; ++i)
      weight[i] = static_cast<float>((part[i] > kWhole / 2 ? mirrored[i] : near[i]) / sum[i]);
    const float whole = k == PlaceTaps::before(kFilter);
    for (int i = 0; i < n; ++i) weight[i] = part[i] == 0 ? whole : weight[i];
  }
}

}  // namespace

void find_weights(const int64_t* place, int64_t n, Filter filter, float* to, int64_t pitch) {
  for (int64_t i = 0; i < n; i += kSome) {
    const int some = static_cast<int>(std::min<int64_t>(kSome, n - i));
    if (filter == Filter::kCubic)
      at_cpu_level([=] { find_weights<Filter::kCubic>(place + i, some, to + i, pitch); });
    else at_cpu_level([=] { find_weights<Filter::kLanczos3>(place + i, some, to + i, pitch); });
  }
}

}  // namespace stoker
