// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"
#include "kernels/elements/map.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct GridMask {
  float angle = 0, ratio = 0.5f, shift_x = 0, shift_y = 0;
  int tile = 100;

  // Where the grid lies.
  struct Grid {
    double cos, sin, tile, ratio, shift_x, shift_y;
    STOKER_HD bool is_masked(double x, double y) const {
      using exact::Num;
      const double u = ((Num(x) * cos - Num(y) * sin - shift_x) / tile).v;
      const double v = ((Num(x) * sin + Num(y) * cos - shift_y) / tile).v;
      return u - std::floor(u) < ratio && v - std::floor(v) < ratio;
    }
  };
  template <class T>
  struct Masked {
    Grid grid;
    STOKER_HD T operator()(T v, double x, double y) const { return grid.is_masked(x, y) ? T{} : v; }
  };
  struct MaskedBytes {
    Grid grid;
    const std::byte* in;
    Axes elements, columns, rows;
    std::byte* out;
    int size;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const {
      const auto x = static_cast<double>(columns.offset(k)),
                 y = static_cast<double>(rows.offset(k));
      const bool is_masked = grid.is_masked(x, y);
      const std::byte* from = in + elements.offset(k);
      for (int b = 0; b < size; ++b) out[k * size + b] = is_masked ? std::byte{0} : from[b];
    }
  };

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "grid_mask",
      "Blackens squares of an image that lie in a grid.\n\n"
      "A tile of the grid begins at each multiple of 'tile' pixels, turned and shifted; the share "
      "'ratio' of its width and height becomes 0. Accepts any dtype.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW"}),
      ports({.name = "output", .help = "The image with the grid."}),
      arg(&GridMask::angle, "angle", "How far the grid turns, in radians.", between(-1e6, 1e6),
          kPerSample),
      arg(&GridMask::ratio, "ratio", "Which share of a tile's extents is black.", between(0, 1),
          kPerSample),
      arg(&GridMask::shift_x, "shift_x", "How far the turned grid is shifted along x.", kPerSample),
      arg(&GridMask::shift_y, "shift_y", "How far the turned grid is shifted along y.", kPerSample),
      arg(&GridMask::tile, "tile", "Extent of a tile in pixels.", at_least(1), kPerSample));

  Grid grid() const {
    const auto a = static_cast<double>(angle);
    return {exact::cos(a),
            exact::sin(a),
            static_cast<double>(tile),
            static_cast<double>(ratio),
            static_cast<double>(shift_x),
            static_cast<double>(shift_y)};
  }
  void check(Checker& c) const { c.out(c.in()); }
  void infer(Inference& i) const { i.out(i.inputs[0]); }
  void demand(Demand& d) const { d.needed[0] = d.wanted[0]; }

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    // The column and the row of each element.
    const auto positions = [&](int axis) {
      auto* numbers = r.scratch.array<double>(static_cast<size_t>(out.full[axis]));
      for (int64_t p = 0; p < out.full[axis]; ++p) numbers[p] = static_cast<double>(p);
      View v = View::dense(numbers, DType::kFloat64, out.full);
      v.strides = Shape::filled(out.full.rank, 0);
      v.strides[axis] = sizeof(double);
      return v;
    };
    const View x = positions(out.layout.find('W')), y = positions(out.layout.find('H'));
    with_size(size_of(in.dtype), [&](auto v) {
      using T = decltype(v);
      map<T, T, double, double>(out, Masked<T>{grid()}, in, x, y);
    });
  }
  static void run_gpu(GpuRun& r, std::span<const GridMask* const> items) {
    std::vector<MaskedBytes> all;
    for (size_t i = 0; i < items.size(); ++i) {
      const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
      const Strided from = Strided::of(in);
      const auto along = [&](char letter) {
        Shape steps = Shape::filled(out.full.rank, 0);
        steps[in.layout.find(letter)] = 1;
        return Axes(out.full, steps);
      };
      all.push_back({items[i]->grid(), from.data + from.offset, Axes(out.full, in.strides),
                     along('W'), along('H'), out.as<std::byte>(), size_of(in.dtype),
                     out.shape.volume()});
    }
    run_each(r, std::span<const MaskedBytes>(all));
  }

  static std::vector<Case> cases() {
    return {
        {"tile=2", {"uint8 HW [[1, 2, 3], [4, 5, 6]]"}, {"uint8 [[0, 2, 0], [4, 5, 6]]"}},
        {"tile=2, shift_x=1.0, shift_y=1.0",
         {"float32 HWC [[[1], [2]], [[3], [4]]]"},
         {"float32 [[[1], [2]], [[3], [0]]]"}},
        {"ratio=0.0", {"int16 CHW [[[7, 8]]]"}, {"int16 [[[7, 8]]]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::GridMask)
