// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fft/spectrum.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/exact_math.h"
#include "kernels/levels.h"

namespace stoker {
namespace {

// How many transforms are done at once, one in each lane.
constexpr int64_t kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

void load(const Spectrum& s, int64_t n, int64_t first, int64_t count, Lanes* to) {
  std::memset(to, 0, static_cast<size_t>(2 * n) * sizeof *to);
  for (int64_t w = 0; w < count; ++w)
    for (int64_t i = 0; i < s.length; ++i) to[2 * i][w] = s.value(first + w, i);
}

}  // namespace

std::vector<float> hann(int length) {
  std::vector<float> weights;
  for (int k = 0; k < length; ++k)
    weights.push_back(
        static_cast<float>((1 - exact::cos(0x1.921fb54442d18p+2 * (k + 0.5) / length)) / 2));
  return weights;
}

void run_spectrum(const Spectrum& s, const Fft& fft, const View& out, Arena& scratch) {
  if (out.shape.volume() == 0) return;
  const int frequency = out.layout.find('f'), time = 1 - frequency;
  const int64_t bins = out.shape[frequency], end = out.origin[time] + out.shape[time];
  Lanes* a = scratch.array<Lanes>(static_cast<size_t>(2 * fft.n));
  Lanes* b = scratch.array<Lanes>(static_cast<size_t>(2 * fft.n));
  for (int64_t first = out.origin[time]; first < end; first += kLanes) {
    const int64_t count = std::min(kLanes, end - first);
    std::byte* to = out.as<std::byte>() + (first - out.origin[time]) * out.strides[time];
    at_cpu_level([&] {
      load(s, fft.n, first, count, a);
      Lanes *in = a, *made = b;
      for (const FftStage& stage : fft.stages) {
        for (int64_t k = 0; k < stage.count; ++k) fft_butterfly(fft.tables(), stage, k, in, made);
        std::swap(in, made);
      }
      for (int64_t k = 0; k < bins; ++k) {
        const Lanes* v = in + 2 * (out.origin[frequency] + k);
        for (int64_t w = 0; w < count; ++w)
          *reinterpret_cast<float*>(to + k * out.strides[frequency] + w * out.strides[time]) =
              s.magnitude(v[0][w], v[1][w]);
      }
    });
  }
}

}  // namespace stoker
