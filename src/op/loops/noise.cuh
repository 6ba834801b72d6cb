// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators that add noise element by element share.
#pragma once
#include "kernels/elements/fill.h"
#include "kernels/elements/map.h"
#include "kernels/fused_device/value.h"
#include "memory/arena.h"
#include "op/loops/gpu_each.cuh"
#include "op/schema.h"

namespace stoker {

// On a device: element k of a dense output becomes what `change` makes of the input's element and
// of a number, which several elements may share.
template <class Change>
struct NumberedElement {
  Change change;
  const std::byte* in;
  Axes elements, numbers;
  DType dtype;
  int size;
  std::byte* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const double v = number_of<double>(load_value(in + elements.offset(k), dtype));
    store_value(value_of(change(v, numbers.offset(k)), dtype), out + k * size);
  }
};

// Adds the noise of the draws with the number.
template <class Noise>
struct DrawnNoise {
  Noise noise;
  Chance chance;

  STOKER_HD double operator()(double v, int64_t number) const {
    constexpr int kDraws = Noise::kDraws, kValues = Noise::kValues;
    uint32_t draws[kDraws];
    float drawn[kValues];
    for (int d = 0; d < kDraws; ++d)
      draws[d] = chance.bits(static_cast<uint64_t>(number / kValues * kDraws + d));
    noise(draws, drawn);
    return noise.of(v, drawn[number % kValues]);
  }
};

// The numbers of the draws as strides: those of the elements or, if all along `axis` share a draw,
// those of what there is without this axis (-1: no axis).
inline Shape numbers_without(Shape full, int axis) {
  if (axis >= 0) full[axis] = 1;
  Shape strides = View::dense_strides(full, 1);
  if (axis >= 0) strides[axis] = 0;
  return strides;
}

template <class To, class Noise>
struct AddNoise {
  Noise noise;
  STOKER_HD To operator()(To v, float drawn) const {
    return convert<To>(noise.of(convert<double>(v), drawn));
  }
};

// Noise makes floats of draws, as for fill_draws() (kernels/elements/fill.h), and has `STOKER_HD
// double of(double value, float drawn) const`.
template <class Noise>
void add_noise(Run& r, const Noise& noise, int shared_axis) {
  const View &in = r.inputs[0], &out = r.outputs[0];
  View drawn = View::window(nullptr, DType::kFloat32, out.covers(), out.full);
  if (shared_axis >= 0) {
    drawn.shape[shared_axis] = out.shape[shared_axis] > 0, drawn.full[shared_axis] = 1;
    drawn.origin[shared_axis] = 0;
    drawn.strides = View::dense_strides(drawn.shape, sizeof(float));
  }
  drawn.data = r.scratch.array<float>(static_cast<size_t>(drawn.shape.volume()));
  fill_draws<float>(drawn, r.chance, noise);
  if (shared_axis >= 0) {
    drawn.strides[shared_axis] = 0;
    drawn.shape = out.shape, drawn.full = out.full, drawn.origin = out.origin;
  }
  with_type(out.dtype, [&](auto v) {
    using T = decltype(v);
    map<T, T, float>(out, AddNoise<T, Noise>{noise}, in, drawn);
  });
}
template <class MakeChange, class MakeAxis>
void change_elements(GpuRun& r, MakeChange change, MakeAxis shared_axis) {
  std::vector<NumberedElement<decltype(change(size_t{0}))>> all;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
    const Strided s = Strided::of(in);
    all.push_back({change(i), s.data + s.offset, Axes(out.full, in.strides),
                   Axes(out.full, numbers_without(out.full, shared_axis(i))), out.dtype,
                   size_of(out.dtype), out.as<std::byte>(), out.shape.volume()});
  }
  run_each(r, std::span(std::as_const(all)));
}
template <class MakeNoise, class MakeAxis>
void add_noise(GpuRun& r, MakeNoise noise, MakeAxis shared_axis) {
  using Drawn = DrawnNoise<decltype(noise(size_t{0}))>;
  const auto drawn = [&](size_t i) { return Drawn{noise(i), r.items[i].chance}; };
  change_elements(r, drawn, shared_axis);
}

template <class To, class Change>
struct ChangeElement {
  Change change;
  STOKER_HD To operator()(To v, int64_t number) const {
    return convert<To>(change(convert<double>(v), number));
  }
};
// change_elements() for one sample, whose elements share no number.
template <class Change>
void change_elements(Run& r, const Change& change) {
  const View &in = r.inputs[0], &out = r.outputs[0];
  const int64_t volume = out.shape.volume();
  auto* numbers = r.scratch.array<int64_t>(static_cast<size_t>(volume));
  const View all = View::window(numbers, DType::kInt64, out.covers(), out.full);
  const Shape strides = View::dense_strides(out.full, 1);
  const Axes places(out.shape, strides);
  int64_t first = 0;
  for (int a = 0; a < out.full.rank; ++a) first += out.origin[a] * strides[a];
  for (int64_t k = 0; k < volume; ++k) numbers[k] = first + places.offset(k);
  with_type(out.dtype, [&](auto v) {
    using T = decltype(v);
    map<T, T, int64_t>(out, ChangeElement<T, Change>{change}, in, all);
  });
}

// Not all whole numbers of 64 bits are doubles.
inline constexpr auto kNoiseInputs =
    ports({.name = "input",
           .help = "Any tensor.",
           .dtypes = "uint8, int8, uint16, int16, uint32, int32, float16, float32, float64, bool"});
inline constexpr auto kNoiseOutputs =
    ports({.name = "output", .help = "The noisy input, of its dtype."});

}  // namespace stoker
