// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// blur() and sum_of_blurs() of kernels/neighbourhood/blur.h for a batch.
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

// One element of a blur along an axis with n positions, `step` elements apart.
template <class A, class Out>
struct BlurElement {
  using N = typename A::Number;
  const N* in;
  Out* out;
  const N* weights;
  int radius;
  int64_t step, n, pieces;
  const N* plus;  // is added; null: nothing

  STOKER_HD void run(int64_t k) const {
    const int64_t p = k / step % n;
    const N* line = in + k - p * step;
    N sum = radius ? A::product(in[k], weights[0]) : in[k];
    for (int j = 1; j <= radius; ++j) {
      const N low = line[mirrored(p - j, n) * step], high = line[mirrored(p + j, n) * step];
      sum = A::sum(sum, A::product(A::pair(low, high), weights[j]));
    }
    out[k] = A::template store<Out>(plus ? A::sum(plus[k], sum) : sum);
  }
};

// The items of these numbers. Item i becomes the sum of blurs(i): as many for each, of as many
// axes.
template <class A, class In, class Out, class MakeBlurs>
void blur_items(GpuRun& r, std::span<const size_t> numbers, MakeBlurs blurs) {
  using N = typename A::Number;
  if (numbers.empty()) return;
  const BlurList first = blurs(numbers[0]);
  const size_t count = first.size(), passes = first[0].size();
  std::vector<LoadForBlur<A, In>> loads;
  std::vector<std::vector<BlurElement<A, N>>> inner(count * passes);
  std::vector<BlurElement<A, Out>> last;
  for (const size_t i : numbers) {
    const View& out = r.items[i].outputs[0];
    const Strided in = Strided::of(r.items[i].inputs[0]);
    const int64_t elements = out.shape.volume();
    const auto room = [&] {
      return reinterpret_cast<N*>(r.scratch(static_cast<size_t>(elements) * sizeof(N)));
    };
    if (elements == 0) continue;
    // A single blur may write over what was loaded.
    N *loaded = room(), *sum = count > 1 ? room() : nullptr;
    N* between[] = {passes > 1 ? room() : nullptr, loaded};
    if (count > 1 && passes > 2) between[1] = room();
    loads.push_back({in.data + in.offset, Axes(out.shape, in.stride), loaded, elements});
    const BlurList of_item = blurs(i);
    for (size_t k = 0; k < count * passes; ++k) {
      const size_t pass = k % passes;
      const BlurAxis& axis = of_item[k / passes][pass];
      const std::vector<N> weights = A::weights(axis.weights);
      const N *w = r.put(std::span<const N>(weights)),
              *from = pass ? between[(pass + 1) % 2] : loaded;
      const int radius = static_cast<int>(weights.size()) - 1;
      const int64_t step = View::dense_strides(out.shape, 1)[axis.axis], n = out.shape[axis.axis];
      const bool ends = pass + 1 == passes;
      const N* plus = ends && k >= passes ? sum : nullptr;
      if (k + 1 == count * passes)
        last.push_back({from, out.as<Out>(), w, radius, step, n, elements, plus});
      else
        inner[k].push_back(
            {from, ends ? sum : between[pass % 2], w, radius, step, n, elements, plus});
    }
  }
  run_each(r, std::span<const LoadForBlur<A, In>>(loads));
  for (const auto& pass : inner) run_each(r, std::span<const BlurElement<A, N>>(pass));
  run_each(r, std::span<const BlurElement<A, Out>>(last));
}

// blur_items() in floats. Requires: the output has the input's dtype or float32.
template <class MakeBlurs>
void sum_of_blurs(GpuRun& r, std::span<const size_t> numbers, MakeBlurs blurs) {
  with_type(r.items[0].inputs[0].dtype, [&](auto v) {
    using In = decltype(v);
    using A = FloatBlur<std::conditional_t<kIsWide<In>, double, float>>;
    if (r.items[0].outputs[0].dtype == DType::kFloat32) blur_items<A, In, float>(r, numbers, blurs);
    else blur_items<A, In, In>(r, numbers, blurs);
  });
}

// axes(i) gives the axes of item i, as many for each. Requires: as above.
template <class MakeAxes>
void blur(GpuRun& r, MakeAxes axes) {
  const DType in = r.items[0].inputs[0].dtype, out = r.items[0].outputs[0].dtype;
  std::vector<size_t> fixed, others;
  for (size_t i = 0; i < r.items.size(); ++i)
    (is_fixed_point(in, out, axes(i)) ? fixed : others).push_back(i);
  const auto blurs = [&](size_t i) { return BlurList{axes(i)}; };
  blur_items<FixedBlur, uint8_t, uint8_t>(r, fixed, blurs);
  sum_of_blurs(r, others, blurs);
}

}  // namespace stoker
