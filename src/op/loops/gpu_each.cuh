// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One launch for a ragged batch, and the two loops that most operators need in it: value by value,
// and element by element. For the .cu files of operators. As thread-safe as the GpuRun.
#pragma once
#include "device/block_kernel.cuh"
#include "kernels/convert.h"
#include "kernels/fused_device/vector_access.h"
#include "kernels/strided.h"
#include "op/gpu_run.h"

namespace stoker {

// The pieces of item i are done by the thread blocks [first[i], first[i + 1]).
template <class Item>
struct EachProgram {
  static constexpr int kPhases = 1, kMostThreads = 256, kBlocks = 1;
  static constexpr int64_t kPieces = 1024;  // that one thread block does
  const Item* items;
  const int64_t* first;
  int count;

  STOKER_HD void run(int, int64_t block, int thread, int threads, std::byte*) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first[middle] <= block ? low : high) = middle;
    }
    const Item& item = items[low];
    const int64_t begin = (block - first[low]) * kPieces, rest = item.pieces - begin;
    const int64_t end = begin + (rest < kPieces ? rest : kPieces);
    for (int64_t k = begin + thread; k < end; k += threads) item.run(k);
  }
};

// Calls run(0) ... run(pieces - 1) of every item, in any order or at once. An Item is trivially
// copyable and not private; it has `int64_t pieces` and `STOKER_HD void run(int64_t k) const`. All
// that it points to is on the device.
template <class Item>
void run_each(GpuRun& r, std::span<const Item> items) {
  using Program = EachProgram<Item>;
  constexpr int64_t kBlockNs = 100;  // a guess, which only the virtual clock uses
  std::vector<int64_t> first{0};
  for (const Item& i : items)
    first.push_back(first.back() + (i.pieces + Program::kPieces - 1) / Program::kPieces);
  const int64_t blocks = first.back();
  if (blocks == 0) return;
  const Program program{r.put(items), r.put(std::span<const int64_t>(first)),
                        static_cast<int>(items.size())};
  launch_blocks(r.stream, program, {blocks, Program::kMostThreads, 0, blocks * kBlockNs}, r.name);
}

// Stores up to four elements in a row, all at once where the address allows it.
struct StoreElements {
  static constexpr int kRow = 4;
  const double (&number)[kRow];
  std::byte* to;
  int count;

  template <class T>
  STOKER_HD void operator()(T) const {
    T row[kRow];
    for (int e = 0; e < kRow; ++e) row[e] = convert<T>(number[e]);
    constexpr int kAligned = kRow * sizeof(T) < kVectorBytes ? kRow * sizeof(T) : kVectorBytes;
    if (count == kRow && misalignment(to, kAligned) == 0) return store_row(to, row);
    for (int e = 0; e < count; ++e) store_as(to + e * int{sizeof(T)}, row[e]);
  }
};

// Sets four elements in a row, because one block of a Chance gives four draws.
template <class Value>
struct SetElements {
  static constexpr int kRow = 4;
  Value value;
  std::byte* to;
  DType dtype;
  int size;
  int64_t elements, pieces;

  STOKER_HD void run(int64_t k) const {
    Value v = value;
    double number[kRow] = {};
    const int64_t first = k * kRow, rest = elements - first;
    const int count = rest < kRow ? static_cast<int>(rest) : kRow;
    for (int e = 0; e < count; ++e) number[e] = v(first + e);
    with_type(dtype, StoreElements{number, to + first * size, count});
  }
};

// set_elements() of op/loops/elements.h for output 0 of a batch: value(i) gives the functor of item
// i, a struct with `STOKER_HD double operator()(int64_t element)`.
template <class MakeValue>
void set_elements(GpuRun& r, MakeValue value) {
  using Set = SetElements<decltype(value(size_t{0}))>;
  std::vector<Set> items;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View& out = r.items[i].outputs[0];
    const int64_t n = out.shape.volume();
    items.push_back({value(i), out.as<std::byte>(), out.dtype, size_of(out.dtype), n,
                     (n + Set::kRow - 1) / Set::kRow});
  }
  run_each(r, std::span<const Set>(items));
}

// Elements in their order, with as few axes as their strides allow: one for a dense view.
struct Axes {
  Shape shape, strides;

  Axes(const Shape& whole, const Shape& steps) {
    for (int a = 0; a < whole.rank; ++a) {
      const int last = shape.rank - 1;
      if (last >= 0 && strides[last] == whole[a] * steps[a]) {
        shape[last] *= whole[a];
        strides[last] = steps[a];
      } else {
        shape.push_back(whole[a]);
        strides.push_back(steps[a]);
      }
    }
  }
  STOKER_HD int64_t offset(int64_t element) const {
    int64_t bytes = 0;
    for (int a = shape.rank - 1; a > 0; --a) {
      bytes += element % shape.extent[a] * strides.extent[a];
      element /= shape.extent[a];
    }
    return bytes + element * strides.extent[0];
  }
};

template <class From, class To, class F>
struct MapElement {
  F f;
  const std::byte* in;  // at full position 0
  Axes axes;
  To* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    f(reinterpret_cast<const From*>(in + axes.offset(k)), out + k, int64_t{1});
  }
};

// for_each_run() of op/loops/runs.h from input 0 to output 0 of a batch, with counts of 1:
// function(i) gives the functor of item i, a struct with `STOKER_HD void operator()(const From*,
// To*, int64_t count) const`.
template <class From, class To = From, class MakeFunction>
void for_each_run(GpuRun& r, MakeFunction function) {
  using Map = MapElement<From, To, decltype(function(size_t{0}))>;
  std::vector<Map> items;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View& out = r.items[i].outputs[0];
    const Strided in = Strided::of(r.items[i].inputs[0]);
    items.push_back({function(i), in.data + in.offset, Axes(out.shape, in.stride), out.as<To>(),
                     out.shape.volume()});
  }
  run_each(r, std::span<const Map>(items));
}

}  // namespace stoker
