// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// sum() of kernels/statistics/sum.h for a batch.
#pragma once
#include "kernels/statistics/sum.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

// Sums over the reduced axes of `in`, which is whole, for a device.
struct SumTask {
  View in;
  std::array<bool, kMaxRank> reduced;
  const double* centres;  // one for each sum; null where the values themselves are summed up
  std::byte* out;
  DType dtype;  // of the sums
};

// One lane of one block of one sum.
template <class Kind>
struct SumLane {
  using T = typename Kind::Element;
  const std::byte* in;
  const double* centres;
  Axes kept, inside;  // from the first element of a sum to that of another; within a sum
  int64_t count, blocks, lanes;
  typename Kind::Lane* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const int64_t lane = k % lanes, block = k / lanes % blocks, which = k / lanes / blocks;
    const std::byte* from = in + kept.offset(which);
    const double centre = Kind::kCentred ? centres[which] : 0;
    const int64_t begin = block * kSumBlock;
    const int64_t end = begin + kSumBlock < count ? begin + kSumBlock : count;
    typename Kind::Lane sum = Kind::kNone;
    for (int64_t e = begin + lane; e < end; e += kSumLanes)
      sum =
          Kind::add(sum, Kind::load(*reinterpret_cast<const T*>(from + inside.offset(e)), centre));
    out[k] = sum;
  }
};

// Numbers in three types serve all kinds.
template <class T>
using WideNumber = std::conditional_t<std::is_floating_point_v<T>, double,
                                      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
template <class Number>
struct StoreSum {
  Number number;
  std::byte* out;
  int64_t k;
  template <class To>
  STOKER_HD void operator()(To) const {
    reinterpret_cast<To*>(out)[k] = convert<To>(number);
  }
};
template <class Number>
[[gnu::noinline]] STOKER_HD void store_element(Number number, DType dtype, std::byte* out,
                                               int64_t k) {
  with_type(dtype, StoreSum<Number>{number, out, k});
}

template <class Kind>
struct SumBlocks {
  typename Kind::Lane* lanes;
  int64_t blocks, used;
  std::byte* out;
  DType dtype;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    using Number = WideNumber<typename Kind::Result>;
    typename Kind::Total sum = static_cast<typename Kind::Total>(Kind::kNone);
    for (int64_t b = 0; b < blocks; ++b)
      sum = Kind::add(sum, fold<Kind>(lanes + (k * blocks + b) * used, used, 1));
    store_element(static_cast<Number>(static_cast<typename Kind::Result>(sum)), dtype, out, k);
  }
};

// Requires: all tasks have inputs of the kind's element type.
template <class Kind>
void sum_as(GpuRun& r, std::span<const SumTask> tasks) {
  std::vector<SumLane<Kind>> lanes;
  std::vector<SumBlocks<Kind>> blocks;
  for (const SumTask& t : tasks) {
    Shape inside, steps, kept, jumps;
    for (int a = 0; a < t.in.shape.rank; ++a) {
      const bool reduced = t.reduced[static_cast<size_t>(a)];
      (reduced ? inside : kept).push_back(t.in.full[a]);
      (reduced ? steps : jumps).push_back(t.in.strides[a]);
    }
    const int64_t count = inside.volume(), sums = kept.volume();
    if (sums == 0) continue;
    const int64_t some = (count + kSumBlock - 1) / kSumBlock, used = lanes_used(count);
    const int64_t pieces = sums * some * used;
    using Lane = typename Kind::Lane;
    auto* numbers = reinterpret_cast<Lane*>(
        r.scratch(static_cast<size_t>(std::max<int64_t>(pieces, 1)) * sizeof(Lane)));
    const Strided from = Strided::of(t.in);
    lanes.push_back({from.data + from.offset, t.centres, Axes(kept, jumps), Axes(inside, steps),
                     count, some, used, numbers, pieces});
    blocks.push_back({numbers, some, used, t.out, t.dtype, sums});
  }
  run_each(r, std::span<const SumLane<Kind>>(lanes));
  run_each(r, std::span<const SumBlocks<Kind>>(blocks));
}

// For inputs of any dtype. It is compiled once, for the kinds of kernels/statistics/sum.h.
template <template <class> class Kind>
void sum_up(GpuRun& r, std::span<const SumTask> tasks);

// reduced(i) gives the flags of the axes of item i.
template <template <class> class Kind = Sum, class Reduced>
void sum(GpuRun& r, Reduced reduced) {
  std::vector<SumTask> tasks;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
    tasks.push_back({in, reduced(i), nullptr, out.as<std::byte>(), out.dtype});
  }
  sum_up<Kind>(r, tasks);
}

}  // namespace stoker
