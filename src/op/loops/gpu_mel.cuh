// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "kernels/fft/mel.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

// Makes the elements of a dense output, with the sums in the order of sum_by_filters().
struct SumByFilter {
  const MelFilter* filters;
  const std::byte* in;  // at full position 0
  Axes first_bin;  // of each element of the output, from `in` on
  int64_t bin_step, inner, count;
  float* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const MelFilter& f = filters[k / inner % count];
    const std::byte* from = in + first_bin.offset(k) + f.begin * bin_step;
    float sum = 0;
    for (int64_t b = 0; b < f.end - f.begin; ++b)
      sum += f.weights[b] * *reinterpret_cast<const float*>(from + b * bin_step);
    out[k] = sum;
  }
};

// sum_by_filters() (kernels/fft/mel.h) from input 0 to output 0: axis(i) is of item i, bank(bins)
// gives filters.
template <class AxisOf, class BankOf>
void sum_by_filters(GpuRun& r, AxisOf axis, BankOf bank) {
  std::map<int64_t, const MelFilter*> banks;  // by the number of frequencies, mostly one
  std::vector<SumByFilter> work;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
    if (out.shape.volume() == 0) continue;
    const int a = axis(i);
    const MelFilter*& filters = banks[in.full[a]];
    if (!filters) {
      MelFilters made = bank(in.full[a]);
      made.point_to(r.put(std::span<const float>(made.weights)));
      filters = r.put(std::span<const MelFilter>(made.filters));
    }
    const Strided all = Strided::of(in);
    Shape bins = all.stride;
    bins[a] = 0;
    work.push_back({filters, all.data + all.offset, Axes(out.shape, bins), all.stride[a],
                    out.strides[a] / int64_t{sizeof(float)}, out.shape[a], out.as<float>(),
                    out.shape.volume()});
  }
  run_each(r, std::span<const SumByFilter>(work));
}

}  // namespace stoker
