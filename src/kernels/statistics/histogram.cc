// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/statistics/histogram.h"

namespace stoker {
namespace {

// Counts element k in table k % kLanes, so that equal values in a row do not wait for each other.
template <int kLanes>
void count_row(const uint8_t* in, int64_t n, Histogram* tables) {
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (int l = 0; l < kLanes; ++l) ++tables[l][in[k + l]];
  for (int l = 0; k < n; ++k, ++l) ++tables[l][in[k]];
}

void count_row(const uint8_t* in, int64_t n, int64_t lanes, Histogram* tables) {
  switch (lanes) {
    case 4: return count_row<4>(in, n, tables);
    case 6: return count_row<6>(in, n, tables);
    case 8: return count_row<8>(in, n, tables);
    default: break;
  }
  for (int64_t k = 0, l = 0; k < n; ++k, l = l + 1 < lanes ? l + 1 : 0) ++tables[l][in[k]];
}

template <int kPlanes>
void look_up_row(const uint8_t* in, int64_t n, const ByteTable* tables, uint8_t* out) {
  for (int64_t k = 0; k < n; k += kPlanes)
    for (int p = 0; p < kPlanes; ++p) out[k + p] = tables[p][in[k + p]];
}

void look_up_row(const uint8_t* in, int64_t n, int64_t planes, const ByteTable* tables,
                 uint8_t* out) {
  switch (planes) {
    case 1: return look_up_row<1>(in, n, tables, out);
    case 3: return look_up_row<3>(in, n, tables, out);
    case 4: return look_up_row<4>(in, n, tables, out);
    default: break;
  }
  for (int64_t k = 0; k < n; k += planes)
    for (int64_t p = 0; p < planes; ++p) out[k + p] = tables[p][in[k + p]];
}

}  // namespace

BytePlanes BytePlanes::of(const View& v) {
  const int h = v.layout.find('H'), w = v.layout.find('W');
  BytePlanes p{.rows = v.shape[h], .columns = v.shape[w], .row_step = v.strides[h]};
  if (h > 0) p.outer = v.shape[0], p.outer_step = v.strides[0];
  if (w + 1 < v.shape.rank) p.inner = v.shape[w + 1];
  return p;
}

std::vector<uint32_t> histograms(const uint8_t* in, const BytePlanes& planes) {
  const int64_t lanes = planes.inner * (planes.inner == 1 ? 4 : 2);
  std::vector<uint32_t> sums(static_cast<size_t>(planes.planes()) * 256);
  std::vector<uint32_t> some(static_cast<size_t>(lanes) * 256);
  for (int64_t o = 0; o < planes.outer; ++o) {
    std::fill(some.begin(), some.end(), 0);
    for (int64_t y = 0; y < planes.rows; ++y)
      count_row(in + o * planes.outer_step + y * planes.row_step, planes.columns * planes.inner,
                lanes, reinterpret_cast<Histogram*>(some.data()));
    const auto first = static_cast<size_t>(o * planes.inner) * 256;
    const auto row = static_cast<size_t>(planes.inner) * 256;
    for (size_t k = 0; k < some.size(); ++k) sums[first + k % row] += some[k];
  }
  return sums;
}

void look_up(const uint8_t* in, const BytePlanes& from, uint8_t* out, const BytePlanes& to,
             const std::vector<uint8_t>& tables) {
  const auto* table = reinterpret_cast<const ByteTable*>(tables.data());
  for (int64_t o = 0; o < to.outer; ++o, table += to.inner)
    for (int64_t y = 0; y < to.rows; ++y)
      look_up_row(in + o * from.outer_step + y * from.row_step, to.columns * to.inner, to.inner,
                  table, out + o * to.outer_step + y * to.row_step);
}

}  // namespace stoker
