// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/statistics/histogram.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

// Counts one value in one share of a plane. No two threads count in the same place.
struct CountValue {
  static constexpr int64_t kShares = 16;
  const std::byte* in;  // element 0 of the plane
  Axes axes;
  int64_t elements;
  uint32_t* counts;  // by share and value
  int64_t pieces = kShares * 256;

  STOKER_HD void run(int64_t k) const {
    const int64_t share = k / 256, begin = share * elements / kShares;
    const int64_t end = (share + 1) * elements / kShares;
    uint32_t n = 0;
    for (int64_t e = begin; e < end; ++e)
      n += static_cast<uint8_t>(in[axes.offset(e)]) == static_cast<uint8_t>(k % 256);
    counts[k] = n;
  }
};

struct EqualizeTable {
  const uint32_t* counts;
  uint8_t* table;
  int64_t pieces = 1;

  STOKER_HD void run(int64_t) const { equalize(Counts{counts, CountValue::kShares}, table); }
};

struct LookUp {
  const std::byte* in;
  Axes axes;
  const uint8_t* table;
  uint8_t* out;
  int64_t step, pieces;  // of the output

  STOKER_HD void run(int64_t k) const {
    out[k * step] = table[static_cast<uint8_t>(in[axes.offset(k)])];
  }
};

// Sets output 0 of a batch to input 0, each plane of the axes H and W equalised.
inline void equalize(GpuRun& r) {
  std::vector<CountValue> counts;
  std::vector<EqualizeTable> tables;
  std::vector<LookUp> looks;
  for (const BatchItem& item : r.items) {
    const View& out = item.outputs[0];
    const Strided in = Strided::of(item.inputs[0]);
    const int h = out.layout.find('H'), w = out.layout.find('W'), c = out.layout.find('C');
    const Axes axes({out.shape[h], out.shape[w]}, {in.stride[h], in.stride[w]});
    const int64_t n = out.shape[h] * out.shape[w], planes = n && c >= 0 ? out.shape[c] : n > 0;
    if (planes == 0) continue;
    constexpr int64_t kCounts = CountValue::kShares * 256;
    auto* count = reinterpret_cast<uint32_t*>(
        r.scratch(static_cast<size_t>(planes * kCounts) * sizeof(uint32_t)));
    auto* table = reinterpret_cast<uint8_t*>(r.scratch(static_cast<size_t>(planes) * 256));
    for (int64_t p = 0; p < planes; ++p, count += kCounts, table += 256) {
      const std::byte* from = in.data + in.offset + (c >= 0 ? p * in.stride[c] : 0);
      uint8_t* to = out.as<uint8_t>() + (c >= 0 ? p * out.strides[c] : 0);
      counts.push_back({from, axes, n, count});
      tables.push_back({count, table});
      looks.push_back({from, axes, table, to, out.strides[w], n});
    }
  }
  run_each(r, std::span<const CountValue>(counts));
  run_each(r, std::span<const EqualizeTable>(tables));
  run_each(r, std::span<const LookUp>(looks));
}

}  // namespace stoker
