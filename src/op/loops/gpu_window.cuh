// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// median(), extremes() and correlate() of kernels/neighbourhood/ for a batch.
#pragma once
#include "kernels/neighbourhood/correlate.h"
#include "kernels/neighbourhood/extremes.h"
#include "kernels/neighbourhood/median.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

struct DeviceWindows {
  const std::byte* in;  // at full position 0
  Shape full, stride;  // of the input
  Shape shape;  // of the output
  WindowAxis window[3];  // outermost first; unused ones, of size 1, have no axis
  Border border;

  DeviceWindows(const BatchItem& item, std::span<const WindowAxis> axes, Border border)
      : full(item.inputs[0].full), shape(item.outputs[0].shape), border(border) {
    const Strided s = Strided::of(item.inputs[0]);
    in = s.data + s.offset;
    stride = s.stride;
    for (WindowAxis& w : window) w.axis = -1;
    std::copy(axes.begin(), axes.end(), window + 3 - axes.size());
  }

  // Calls visit(address) for all elements of the window of output element k, in their order. The
  // address is null for the constant beyond the edges.
  template <class Visit>
  STOKER_HD void for_each(int64_t k, const Visit& visit) const {
    int64_t position[kMaxRank] = {};
    for (int a = shape.rank - 1; a >= 0; --a) {
      position[a] = k % shape.extent[a];
      k /= shape.extent[a];
    }
    const std::byte* base = in;
    for (int a = 0; a < shape.rank; ++a)
      if (a != window[0].axis && a != window[1].axis && a != window[2].axis)
        base += position[a] * stride.extent[a];
    for (int64_t z = 0; z < window[0].size; ++z) {
      const std::byte* plane = moved(base, window[0], position, z);
      for (int64_t y = 0; y < window[1].size; ++y) {
        const std::byte* row = moved(plane, window[1], position, y);
        for (int64_t x = 0; x < window[2].size; ++x) visit(moved(row, window[2], position, x));
      }
    }
  }

 private:
  STOKER_HD const std::byte* moved(const std::byte* from, const WindowAxis& w,
                                   const int64_t* position, int64_t i) const {
    if (w.axis < 0 || !from) return from;
    const int64_t p = bordered(position[w.axis] - w.anchor + i, full.extent[w.axis], border);
    return p < 0 ? nullptr : from + p * stride.extent[w.axis];
  }
};

template <class V>
struct MedianElement {
  using Key = typename SortKey<V>::Key;
  DeviceWindows windows;
  int half;
  V* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    Key found = 0;
    for (Key bit = SortKey<V>::kSign; bit; bit = static_cast<Key>(bit >> 1)) {
      const Key tried = static_cast<Key>(found | bit);
      int smaller = 0;
      windows.for_each(k, [&](const std::byte* v) {
        smaller += SortKey<V>::of(*reinterpret_cast<const V*>(v)) < tried;
      });
      if (smaller <= half) found = tried;
    }
    out[k] = SortKey<V>::value(found);
  }
};

template <class Extreme, class V>
struct ExtremeElement {
  using Key = typename SortKey<V>::Key;
  DeviceWindows windows;
  V* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    Key found = Extreme::template kNone<V>;
    windows.for_each(k, [&](const std::byte* v) {
      if (v) found = Extreme::of(found, SortKey<V>::of(*reinterpret_cast<const V*>(v)));
    });
    out[k] = SortKey<V>::value(found);
  }
};

// The number at `from`; 0 if that is null.
struct OneNumber {
  const std::byte* from;
  double& to;
  template <class T>
  STOKER_HD void operator()(T) const {
    to = from ? convert<double>(*reinterpret_cast<const T*>(from)) : 0;
  }
};

template <class V, class Out>
struct CorrelateElement {
  using A = std::conditional_t<kIsWide<V>, double, float>;
  DeviceWindows windows;
  const std::byte* weights;
  Axes weight_axes;
  const std::byte* fill;  // null: 0
  DType fill_type;
  Out* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    double beyond;
    with_type(fill_type, OneNumber{fill, beyond});
    A sum = 0;
    int64_t number = 0;
    windows.for_each(k, [&](const std::byte* v) {
      const std::byte* weight = weights + weight_axes.offset(number++);
      const A w = static_cast<A>(*reinterpret_cast<const float*>(weight));
      const A x = v ? convert<A>(*reinterpret_cast<const V*>(v)) : static_cast<A>(beyond);
      if (w != 0) sum = detail::add_once(sum, detail::mul_once(x, w));
    });
    out[k] = convert<Out>(sum);
  }
};

// axes(i) gives the windows of item i; correlate() leaves out items without.
template <class MakeAxes>
void median(GpuRun& r, MakeAxes axes) {
  with_type(r.items[0].inputs[0].dtype, [&](auto v) {
    using V = decltype(v);
    std::vector<MedianElement<V>> items;
    for (size_t i = 0; i < r.items.size(); ++i) {
      const auto of_item = axes(i);
      const View& out = r.items[i].outputs[0];
      items.push_back({DeviceWindows(r.items[i], of_item, Border::kClamp),
                       static_cast<int>(of_item[0].size * of_item[1].size / 2), out.as<V>(),
                       out.shape.volume()});
    }
    run_each(r, std::span<const MedianElement<V>>(items));
  });
}

template <class Extreme, class MakeAxes>
void extremes(GpuRun& r, MakeAxes axes, Border border) {
  with_type(r.items[0].inputs[0].dtype, [&](auto v) {
    using V = decltype(v);
    std::vector<ExtremeElement<Extreme, V>> items;
    for (size_t i = 0; i < r.items.size(); ++i) {
      const View& out = r.items[i].outputs[0];
      items.push_back(
          {DeviceWindows(r.items[i], axes(i), border), out.as<V>(), out.shape.volume()});
    }
    run_each(r, std::span<const ExtremeElement<Extreme, V>>(items));
  });
}

struct DeviceWeights {
  const std::byte* from;
  Axes axes;
};

template <class V, class Out, class MakeAxes, class MakeWeights>
void correlate_as(GpuRun& r, MakeAxes axes, MakeWeights weights, Border border) {
  std::vector<CorrelateElement<V, Out>> items;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const BatchItem& item = r.items[i];
    const View& out = item.outputs[0];
    const auto windows = axes(i);
    if (windows.empty()) continue;
    const DeviceWeights filter = weights(i);
    const bool has_fill = item.inputs.size() > 2 && item.inputs[2].data;
    items.push_back({DeviceWindows(item, windows, border), filter.from, filter.axes,
                     has_fill ? item.inputs[2].as<std::byte>() : nullptr,
                     has_fill ? item.inputs[2].dtype : DType::kFloat32, out.as<Out>(),
                     out.shape.volume()});
  }
  run_each(r, std::span<const CorrelateElement<V, Out>>(items));
}

// weights(i) gives the DeviceWeights of item i. The third input, if any, has the constant.
// Requires: the output has the input's dtype or float32.
template <class MakeAxes, class MakeWeights>
void correlate(GpuRun& r, MakeAxes axes, MakeWeights weights, Border border) {
  with_type(r.items[0].inputs[0].dtype, [&](auto v) {
    using V = decltype(v);
    if (r.items[0].outputs[0].dtype == DType::kFloat32)
      correlate_as<V, float>(r, axes, weights, border);
    else correlate_as<V, V>(r, axes, weights, border);
  });
}

}  // namespace stoker
