// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// blur() of kernels/neighbourhood/blur.h for a batch, for the .cu files of operators. As
// thread-safe as the GpuRun.
#pragma once
#include "kernels/neighbourhood/blur.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

template <class A, class In>
struct LoadForBlur {
  const std::byte* in;  // at full position 0
  Axes axes;
  typename A::Number* out;
  int64_t pieces;
  STOKER_HD void run(int64_t k) const {
    out[k] = A::load(*reinterpret_cast<const In*>(in + axes.offset(k)));
  }
};

// One element of a blur along one axis, which has n positions and `step` elements between them.
template <class A, class Out>
struct BlurElement {
  using N = typename A::Number;
  const N* in;
  Out* out;
  const N* weights;
  int radius;
  int64_t step, n, pieces;

  STOKER_HD void run(int64_t k) const {
    const int64_t p = k / step % n;
    const N* line = in + k - p * step;
    N sum = radius ? A::product(in[k], weights[0]) : in[k];
    for (int j = 1; j <= radius; ++j) {
      const N low = line[mirrored(p - j, n) * step], high = line[mirrored(p + j, n) * step];
      sum = A::sum(sum, A::product(A::pair(low, high), weights[j]));
    }
    out[k] = A::template store<Out>(sum);
  }
};

// The items of these numbers, all with as many axes.
template <class A, class In, class Out, class MakeAxes>
void blur_items(GpuRun& r, std::span<const size_t> numbers, MakeAxes axes) {
  using N = typename A::Number;
  if (numbers.empty()) return;
  const size_t count = axes(numbers[0]).size();
  std::vector<LoadForBlur<A, In>> loads;
  std::vector<std::vector<BlurElement<A, N>>> inner(count);
  std::vector<BlurElement<A, Out>> last;
  for (const size_t i : numbers) {
    const View& out = r.items[i].outputs[0];
    const Strided in = Strided::of(r.items[i].inputs[0]);
    const int64_t elements = out.shape.volume();
    const auto room = [&] {
      return reinterpret_cast<N*>(r.scratch(static_cast<size_t>(elements) * sizeof(N)));
    };
    if (elements == 0) continue;
    N *from = room(), *to = count > 1 ? room() : nullptr;
    loads.push_back({in.data + in.offset, Axes(out.shape, in.stride), from, elements});
    const std::vector<BlurAxis> of_item = axes(i);
    for (size_t k = 0; k < count; ++k) {
      const int a = of_item[k].axis;
      const std::vector<N> weights = A::weights(of_item[k].weights);
      const N* w = r.put(std::span<const N>(weights));
      const int radius = static_cast<int>(weights.size()) - 1;
      const int64_t step = View::dense_strides(out.shape, 1)[a];
      if (k + 1 == count)
        last.push_back({from, out.as<Out>(), w, radius, step, out.shape[a], elements});
      else inner[k].push_back({from, to, w, radius, step, out.shape[a], elements});
      std::swap(from, to);
    }
  }
  run_each(r, std::span<const LoadForBlur<A, In>>(loads));
  for (size_t k = 0; k + 1 < count; ++k) run_each(r, std::span<const BlurElement<A, N>>(inner[k]));
  run_each(r, std::span<const BlurElement<A, Out>>(last));
}

// axes(i) gives the axes of item i, as many for each. Requires: the output has the input's dtype or
// float32.
template <class MakeAxes>
void blur(GpuRun& r, MakeAxes axes) {
  const DType in = r.items[0].inputs[0].dtype, out = r.items[0].outputs[0].dtype;
  std::vector<size_t> fixed, others;
  for (size_t i = 0; i < r.items.size(); ++i)
    (is_fixed_point(in, out, axes(i)) ? fixed : others).push_back(i);
  blur_items<FixedBlur, uint8_t, uint8_t>(r, fixed, axes);
  with_type(in, [&](auto v) {
    using In = decltype(v);
    using A = FloatBlur<std::conditional_t<kIsWide<In>, double, float>>;
    if (out == DType::kFloat32) blur_items<A, In, float>(r, others, axes);
    else blur_items<A, In, In>(r, others, axes);
  });
}

}  // namespace stoker
