// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VNNI__)
#include <immintrin.h>
#define LIMIT_AVX512 1
#endif

namespace limit {

namespace {

constexpr int kWeightBits = 14;
constexpr int kRowBits = 6;  // fraction bits of a row's values, as 255 << 6 fits into 16 bits
constexpr float kScale = 1.f / (1 << (kWeightBits + kRowBits));
constexpr float kMean[3] = {123.675f, 116.28f, 103.53f};
constexpr float kDeviation[3] = {58.395f, 57.12f, 57.375f};

// The triangle's weights for one output, with the sum 1 << kWeightBits. Returns how many there are.
int triangle(float centre, float support, int first, int last, int16_t* weights) {
  float shares[1024], sum = 0;
  const int count = std::min(last - first, 1024);
  for (int i = 0; i < count; ++i)
    sum += shares[i] =
        std::max(0.f, 1 - std::fabs(static_cast<float>(first + i) - centre + 0.5f) / support);
  int left = 1 << kWeightBits, biggest = 0;
  for (int i = 0; i < count; ++i) {
    weights[i] = static_cast<int16_t>(std::floor(shares[i] / sum * (1 << kWeightBits) + 0.5f));
    left -= weights[i];
    if (weights[i] > weights[biggest]) biggest = i;
  }
  weights[biggest] = static_cast<int16_t>(weights[biggest] + left);
  return count;
}

}  // namespace

void Axis::make(int low, int extent, int whole, bool mirrored) {
  const float scale = static_cast<float>(extent) / kSize, support = std::max(1.f, scale);
  taps = (static_cast<int>(std::ceil(support)) * 2 + 2) & ~1;
  weights.assign(size_t{kSize} * static_cast<size_t>(taps), 0);
  const auto from = [&](float x) { return std::max(0, static_cast<int>(std::floor(x + 0.5f))); };
  begin = from(static_cast<float>(low) + 0.5f * scale - support);
  end = 0;
  for (int i = 0; i < kSize; ++i) {
    const float centre = static_cast<float>(low) + (static_cast<float>(i) + 0.5f) * scale;
    const int output = mirrored ? kSize - 1 - i : i;
    const int here = from(centre - support), behind = std::min(whole, from(centre + support));
    first[output] = here - begin;
    count[output] = triangle(centre, support, here, behind, weights.data() + output * taps);
    end = std::max(end, behind);
  }
}

bool Groups::make(const Axis& axis) {
  const int pairs = axis.taps / 2;
  index.assign(size_t{kCount} * static_cast<size_t>(pairs) * 32, 0);
  weights.assign(index.size(), 0);
  for (int g = 0; g < kCount; ++g) {
    int low = axis.first[g * 16], high = 0;
    for (int i = g * 16; i < g * 16 + 16; ++i) {
      low = std::min(low, axis.first[i]);
      high = std::max(high, axis.first[i] + axis.count[i]);
    }
    if (high - low > 64) return false;
    base[g] = low;
    for (int i = 0; i < 16; ++i)
      for (int t = 0; t < axis.taps; ++t) {
        const int output = g * 16 + i, at = ((g * pairs + t / 2) * 16 + i) * 2 + t % 2;
        index[at] =
            static_cast<int16_t>(axis.first[output] - low + std::min(t, axis.count[output] - 1));
        weights[at] = axis.of(output)[t];
      }
  }
  return true;
}

Window Resizer::plan(const Window& w, const Size& picture) {
  rows_.make(w.y, w.height, picture.height, false);
  columns_.make(w.x, w.width, picture.width, w.mirrored);
  return {rows_.begin, columns_.begin, rows_.end - rows_.begin, columns_.end - columns_.begin,
          w.mirrored};
}

void Resizer::run(const Region& in, float* out) {
  const int width = columns_.end - columns_.begin;
  const size_t needed = static_cast<size_t>(width) + 256;
  if (row_.size() < 3 * needed) {
    row_.resize(3 * needed);
    for (std::vector<int16_t>& plane : planes_) plane.resize(needed);
  }
  const bool grouped = resize_form()[0] == 'A' && groups_.make(columns_);
  for (int y = 0; y < kSize; ++y, out += kSize) {
    vertical(in, y, 3 * width);
    if (grouped) horizontal_in_groups(width, out);
    else horizontal(out);
  }
}

void Resizer::horizontal(float* out) const {
  for (int x = 0; x < kSize; ++x) {
    const int16_t *in = row_.data() + 3 * columns_.first[x], *weight = columns_.of(x);
    int32_t sum[3] = {0, 0, 0};
    for (int t = 0; t < columns_.count[x]; ++t, in += 3)
      for (int c = 0; c < 3; ++c) sum[c] += in[c] * weight[t];
    for (int c = 0; c < 3; ++c)
      out[c * kSize * kSize + x] = (static_cast<float>(sum[c]) * kScale - kMean[c]) / kDeviation[c];
  }
}

#ifdef LIMIT_AVX512

const char* resize_form() { return "AVX-512"; }

void Resizer::vertical(const Region& in, int output, int bytes) {
  const __m512i half = _mm512_set1_epi32(1 << (kWeightBits - kRowBits - 1));
  const int count = rows_.count[output];
  const int16_t* weights = rows_.of(output);
  const uint8_t* top = in.pixels + in.stride * static_cast<size_t>(rows_.first[output]);
  for (int x = 0; x < bytes; x += 32) {
    __m512i low = half, high = half;
    const uint8_t* p = top + x;
    for (int t = 0; t < count; t += 2, p += 2 * in.stride) {
      int32_t pair;
      std::memcpy(&pair, weights + t, sizeof pair);
      const __m512i weight = _mm512_set1_epi32(pair);
      const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
      // The last row of an odd number is its own partner, as the next may not be readable.
      const __m256i b =
          t + 1 < count ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + in.stride)) : a;
      low = _mm512_dpwssd_epi32(low, _mm512_cvtepu8_epi16(_mm256_unpacklo_epi8(a, b)), weight);
      high = _mm512_dpwssd_epi32(high, _mm512_cvtepu8_epi16(_mm256_unpackhi_epi8(a, b)), weight);
    }
    const __m256i even = _mm512_cvtepi32_epi16(_mm512_srai_epi32(low, kWeightBits - kRowBits));
    const __m256i odd = _mm512_cvtepi32_epi16(_mm512_srai_epi32(high, kWeightBits - kRowBits));
    // Unpacking worked on halves of 16 bytes, so the values are put in order again.
    auto* to = reinterpret_cast<__m256i*>(row_.data() + x);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
  }
}

namespace {

// How to gather channel c of 32 pixels: `first` picks from vectors 0 and 1, and `second` from the
// result and vector 2.
struct Picks {
  alignas(64) int16_t first[3][32], second[3][32];
  constexpr Picks() : first{}, second{} {
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 32; ++i) {
        const int from = 3 * i + c;
        first[c][i] = static_cast<int16_t>(from < 64 ? from : 0);
        second[c][i] = static_cast<int16_t>(from < 64 ? i : from - 32);
      }
  }
};
constexpr Picks kPicks;

void split(const int16_t* row, int width, std::vector<int16_t>* planes) {
  for (int x = 0; x < width; x += 32, row += 96) {
    const __m512i a = _mm512_loadu_si512(row), b = _mm512_loadu_si512(row + 32),
                  c = _mm512_loadu_si512(row + 64);
    for (int channel = 0; channel < 3; ++channel) {
      const __m512i first = _mm512_load_si512(kPicks.first[channel]);
      const __m512i second = _mm512_load_si512(kPicks.second[channel]);
      _mm512_storeu_si512(
          planes[channel].data() + x,
          _mm512_permutex2var_epi16(_mm512_permutex2var_epi16(a, first, b), second, c));
    }
  }
}

}  // namespace

void Resizer::horizontal_in_groups(int width, float* out) {
  split(row_.data(), width, planes_);
  const int pairs = columns_.taps / 2;
  for (int g = 0; g < Groups::kCount; ++g)
    for (int c = 0; c < 3; ++c) {
      const int16_t* in = planes_[c].data() + groups_.base[g];
      const int16_t* index = groups_.index.data() + g * pairs * 32;
      const int16_t* weights = groups_.weights.data() + g * pairs * 32;
      const __m512i near = _mm512_loadu_si512(in), far = _mm512_loadu_si512(in + 32);
      __m512i sum = _mm512_setzero_si512();
      for (int t = 0; t < pairs * 32; t += 32)
        sum = _mm512_dpwssd_epi32(
            sum, _mm512_permutex2var_epi16(near, _mm512_loadu_si512(index + t), far),
            _mm512_loadu_si512(weights + t));
      const __m512 value =
          _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(kScale / kDeviation[c]),
                          _mm512_set1_ps(-kMean[c] / kDeviation[c]));
      _mm512_storeu_ps(out + c * kSize * kSize + g * 16, value);
    }
}

#else

const char* resize_form() { return "plain C++"; }

void Resizer::vertical(const Region& in, int output, int bytes) {
  const int count = rows_.count[output];
  const int16_t* weights = rows_.of(output);
  const uint8_t* top = in.pixels + in.stride * static_cast<size_t>(rows_.first[output]);
  constexpr int kStrip = 512;  // sums that stay in the first-level cache
  for (int begin = 0; begin < bytes; begin += kStrip) {
    const int n = std::min(kStrip, bytes - begin);
    int32_t sums[kStrip];
    std::fill_n(sums, n, 1 << (kWeightBits - kRowBits - 1));
    const uint8_t* p = top + begin;
    for (int t = 0; t < count; ++t, p += in.stride)
      for (int i = 0; i < n; ++i) sums[i] += p[i] * weights[t];
    for (int i = 0; i < n; ++i)
      row_[static_cast<size_t>(begin + i)] =
          static_cast<int16_t>(sums[i] >> (kWeightBits - kRowBits));
  }
}

void Resizer::horizontal_in_groups(int, float* out) { horizontal(out); }

#endif

}  // namespace limit
