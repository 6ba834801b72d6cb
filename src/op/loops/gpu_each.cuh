// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One launch for a ragged batch, and two loops for most operators: by value and by element.
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
// copyable and not private; it has `int64_t pieces` and `STOKER_HD void run(int64_t k) const`. What
// it points to is on the device: inputs, outputs, and what GpuRun::put() gave.
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

// Stores up to four elements in a row, all at once if the address allows it.
template <class T>
struct StoreElements {
  static constexpr int kRow = 4;
  const T (&number)[kRow];
  std::byte* to;
  int count;

  template <class To>
  STOKER_HD void operator()(To) const {
    To row[kRow];
    for (int e = 0; e < kRow; ++e) row[e] = convert<To>(number[e]);
    constexpr int kAligned = kRow * sizeof(To) < kVectorBytes ? kRow * sizeof(To) : kVectorBytes;
    if (count == kRow && misalignment(to, kAligned) == 0) return store_row(to, row);
    for (int e = 0; e < count; ++e) store_as(to + e * int{sizeof(To)}, row[e]);
  }
};

// Sets four elements in a row to what `values(first, number)` writes.
template <class T, class Values>
struct SetElements {
  static constexpr int kRow = StoreElements<T>::kRow;
  Values values;
  std::byte* to;
  DType dtype;
  int size;
  int64_t elements, pieces;

  STOKER_HD void run(int64_t k) const {
    T number[kRow];
    const int64_t first = k * kRow, rest = elements - first;
    values(first, number);
    with_type(dtype, StoreElements<T>{number, to + first * size,
                                      rest < kRow ? static_cast<int>(rest) : kRow});
  }
};

// Sets output 0 of each item by the values of values(i).
template <class T, class MakeValues>
void set_elements(GpuRun& r, MakeValues values) {
  using Set = SetElements<T, decltype(values(size_t{0}))>;
  std::vector<Set> items;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View& out = r.items[i].outputs[0];
    const int64_t n = out.shape.volume();
    items.push_back({values(i), out.as<std::byte>(), out.dtype, size_of(out.dtype), n,
                     (n + Set::kRow - 1) / Set::kRow});
  }
  run_each(r, std::span<const Set>(items));
}

template <class T, class F>
struct ValuesByNumber {
  F f;
  STOKER_HD void operator()(int64_t first, T (&to)[4]) const {
    for (int e = 0; e < 4; ++e) to[e] = f(first + e);
  }
};
template <class T, class F>
struct ValuesByDraws {
  F f;
  Chance chance;
  STOKER_HD void operator()(int64_t first, T (&to)[4]) const {
    constexpr int kDraws = 4 / F::kValues * F::kDraws;
    static_assert(4 % F::kValues == 0 && kDraws % 4 == 0);
    uint32_t draws[kDraws];
    for (int b = 0; b < kDraws / 4; ++b) {
      const Words w = chance.block(static_cast<uint64_t>(first / 4 * (kDraws / 4) + b));
      for (int d = 0; d < 4; ++d) draws[4 * b + d] = w.w[d];
    }
    for (int g = 0; g < 4 / F::kValues; ++g) f(draws + g * F::kDraws, to + g * F::kValues);
  }
};

// fill() of kernels/elements/fill.h for output 0 of a batch: function(i) gives the functor of item
// i, a struct with `STOKER_HD T operator()(int64_t number) const`, which is also called for up to
// three numbers behind the last one.
template <class T, class MakeFunction>
void fill(GpuRun& r, MakeFunction function) {
  using F = decltype(function(size_t{0}));
  set_elements<T>(r, [&](size_t i) { return ValuesByNumber<T, F>{function(i)}; });
}

template <class T, class MakeFunction>
void fill_draws(GpuRun& r, MakeFunction function) {
  using F = decltype(function(size_t{0}));
  set_elements<T>(r, [&](size_t i) { return ValuesByDraws<T, F>{function(i), r.items[i].chance}; });
}

// Elements in their order, with as few axes as their strides allow: one for a dense view. An axis
// along which something works has the stride 0 (op/loops/gpu_mel.cuh).
struct Axes {
  Shape shape, strides;

  Axes() = default;
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

template <class F, class To, class... From>
struct MapElement {
  static constexpr size_t kInputs = sizeof...(From);
  F f;
  const std::byte* in[kInputs];  // at full position 0
  Axes axes[kInputs];
  To* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const { run(k, std::index_sequence_for<From...>()); }

 private:
  template <size_t... I>
  STOKER_HD void run(int64_t k, std::index_sequence<I...>) const {
    out[k] = f(*reinterpret_cast<const From*>(in[I] + axes[I].offset(k))...);
  }
};

// map() of kernels/elements/map.h from all inputs to output 0 of a batch: function(i) gives the
// functor of item i, a struct with `STOKER_HD To operator()(From...) const`.
template <class To, class... From, class MakeFunction>
void map(GpuRun& r, MakeFunction function) {
  using Map = MapElement<decltype(function(size_t{0})), To, From...>;
  std::vector<Map> items;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View& out = r.items[i].outputs[0];
    Map item{function(i), {}, {}, out.as<To>(), out.shape.volume()};
    for (size_t k = 0; k < Map::kInputs; ++k) {
      const Strided in = Strided::of(r.items[i].inputs[k]);
      item.in[k] = in.data + in.offset;
      item.axes[k] = Axes(out.shape, in.stride);
    }
    items.push_back(item);
  }
  run_each(r, std::span<const Map>(items));
}

}  // namespace stoker
