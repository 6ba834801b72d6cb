// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/elements/boxes.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

template <class T>
struct FillBox {
  T* out;
  Shape begin, shape, full;
  const T* values;
  int axis;  // that the values belong to; -1: values[0] is for all
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    int64_t place = 0, step = 1, value = 0;
    for (int a = full.rank - 1; a >= 0; --a) {
      const int64_t p = begin[a] + k % shape[a];
      if (a == axis) value = p;
      k /= shape[a];
      place += p * step;
      step *= full[a];
    }
    out[place] = values[value];
  }
};

// fill_boxes() (kernels/elements/boxes.h) for output 0 of a batch: boxes(i) and values(i) are of
// item i.
template <class Boxes, class Values>
void fill_boxes(GpuRun& r, Boxes boxes, Values values) {
  with_type(r.items[0].outputs[0].dtype, [&](auto v) {
    using T = decltype(v);
    std::vector<FillBox<T>> all;
    for (size_t i = 0; i < r.items.size(); ++i) {
      const View& out = r.items[i].outputs[0];
      const std::vector<T> numbers = converted<T>(values(i));
      const T* put = r.put(std::span<const T>(numbers));
      const int axis = numbers.size() > 1 ? out.layout.find('C') : -1;
      for (const Window& w : boxes(i)) {
        const Shape shape = w.shape();
        const bool empty =
            std::any_of(shape.extent, shape.extent + shape.rank, [](int64_t n) { return n <= 0; });
        if (!empty)
          all.push_back({out.as<T>(), w.begin, shape, out.shape, put, axis, shape.volume()});
      }
    }
    run_each(r, std::span<const FillBox<T>>(all));
  });
}

inline void copy_windows(GpuRun& r) {
  with_size(size_of(r.items[0].outputs[0].dtype), [&](auto v) {
    map<decltype(v), decltype(v)>(r, [](size_t) { return Same<decltype(v)>{}; });
  });
}

}  // namespace stoker
