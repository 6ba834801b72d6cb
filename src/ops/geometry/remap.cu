// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/displaced.cuh"
#include "op/resize/pixel_origin.h"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Remap {
  std::optional<Filter> interp;
  PixelOrigin pixel_origin = PixelOrigin::kCorner;

  // The coordinates in a frame of both maps.
  struct Maps {
    const std::byte *x, *y;  // at the first position
    int64_t x_stride[2], y_stride[2];  // of rows and columns
    double shift;
    STOKER_HD double number(const std::byte* map, const int64_t* stride, int64_t row,
                            int64_t column) const {
      const std::byte* at = map + row * stride[0] + column * stride[1];
      return detail::add_once(static_cast<double>(*reinterpret_cast<const float*>(at)), shift);
    }
    STOKER_HD Coordinates operator()(int64_t row, int64_t column) const {
      return {number(y, y_stride, row, column), number(x, x_stride, row, column)};
    }
    // The coordinates of n pixels of a row, from a column on.
    void row(int64_t row, int64_t column, int64_t n, double* ys, double* xs) const {
      row_of(y, y_stride, row, column, n, ys);
      row_of(x, x_stride, row, column, n, xs);
    }
    void row_of(const std::byte* map, const int64_t* stride, int64_t row, int64_t column, int64_t n,
                double* to) const {
      const double by = shift;  // a copy, as what is written may be anything
      if (stride[1] == sizeof(float)) {
        const auto* from = reinterpret_cast<const float*>(map + row * stride[0]) + column;
        for (int64_t k = 0; k < n; ++k) to[k] = static_cast<double>(from[k]) + by;
      } else {
        for (int64_t k = 0; k < n; ++k) to[k] = number(map, stride, row, column + k);
      }
    }
  };

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) { take_nearest(c, "interp", interp); }

  static constexpr auto schema = describe(
      "remap",
      "Takes each pixel from the place in the input that two maps give.\n\n"
      "A map has the height and width of the output, and perhaps one channel; maps of a sequence "
      "may have a first axis with one frame for all or one for each. What lies outside of the "
      "input, and NaN, gives 0. Accepts any dtype.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, FHWC"},
            {.name = "mapx", .help = "The columns in the input, in pixels.", .dtypes = "float32"},
            {.name = "mapy", .help = "The rows in the input, in pixels.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The image, in the input's layout."}),
      arg(&Remap::interp, "interp",
          "INTERP_NN, INTERP_LINEAR, or INTERP_CUBIC or INTERP_LANCZOS3 with the weights of "
          "resize. Default: INTERP_LINEAR, and INTERP_NN for class numbers."),
      arg(&Remap::pixel_origin, "pixel_origin",
          "Where in the first pixel the point (0, 0) lies: its 'corner' or its 'center'."));

  // Where the axes of a map lie: H and W, and F and C or -1.
  struct MapAxes {
    int f = -1, h = 0, c = -1;
  };
  static MapAxes axes_of(const TensorType& map, bool is_sequence, const char* name) {
    const int rank = map.shape.rank;
    MapAxes a;
    const bool has_frames =
        map.layout.empty() ? rank == 4 || (rank == 3 && is_sequence) : map.layout.find('F') == 0;
    require(is_sequence || !has_frames, name, " has frames, and the input has none");
    if (has_frames) a.f = 0, a.h = 1;
    if (rank > a.h + 2) a.c = a.h + 2;
    const bool fits =
        rank == a.h + 2 || (rank == a.h + 3 && (map.shape[a.c] == 1 || map.shape[a.c] < 0));
    require(fits, name, " is of shape ", map.shape, ", expected (H, W) or (H, W, 1)",
            is_sequence ? ", each perhaps with frames before it" : "");
    return a;
  }
  TensorType remapped(std::span<const TensorType> in) const {
    TensorType t = with_places(in[0]);
    const int rank = t.shape.rank;
    for (size_t k = 1; k < 3; ++k) {
      if (in[k].shape.rank < 0) {
        t.shape[rank - 3] = t.shape[rank - 2] = -1;
        return t;
      }
      const MapAxes a = axes_of(in[k], rank == 4, schema.inputs[k].name);
      const int64_t frames = a.f < 0 ? 1 : in[k].shape[0];
      require(frames < 0 || frames == 1 || t.shape[0] < 0 || frames == t.shape[0],
              schema.inputs[k].name, " has ", frames, " frames, and the input ", t.shape[0]);
      for (int i = 0; i < 2; ++i) {
        const int64_t extent = in[k].shape[a.h + i];
        int64_t& made = t.shape[rank - 3 + i];
        require(k == 1 || extent < 0 || made < 0 || extent == made, "mapx is of shape ",
                in[1].shape, ", and mapy of ", in[2].shape);
        if (k == 1 || made < 0) made = extent;
      }
    }
    return t;
  }
  void check(Checker& c) const {
    require(!interp || *interp <= Filter::kLanczos3,
            "argument 'interp' is INTERP_NN, INTERP_LINEAR, INTERP_CUBIC or INTERP_LANCZOS3 here");
    c.out(remapped(c.inputs));
  }
  void infer(Inference& i) const { i.out(remapped(i.inputs)); }

  Placing placing() const { return {interp.value_or(Filter::kLinear), 0}; }
  // The maps of frame f. Requires: the views cover it.
  Maps maps(std::span<const View> inputs, int64_t f) const {
    Maps m{nullptr, nullptr, {}, {}, pixel_origin == PixelOrigin::kCenter ? 0.5 : 0};
    for (size_t k = 1; k < 3; ++k) {
      const View& v = inputs[k];
      const MapAxes a = axes_of(v.whole(), inputs[0].full.rank == 4, schema.inputs[k].name);
      const Strided s = Strided::of(v);
      const std::byte* first = s.data + s.offset;
      if (a.f == 0 && v.full[0] > 1) first += f * s.stride[0];
      (k == 1 ? m.x : m.y) = first;
      for (int i = 0; i < 2; ++i) (k == 1 ? m.x_stride : m.y_stride)[i] = s.stride[a.h + i];
    }
    return m;
  }
  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    const bool is_sequence = out.full.rank == 4;
    for (int64_t k = 0; k < (is_sequence ? out.shape[0] : 1); ++k) {
      const int64_t f = is_sequence ? out.origin[0] + k : 0;
      const Maps m = maps(r.inputs, f);
      const auto where = [&](int64_t y, int64_t x, int64_t n, double* ys, double* xs) {
        at_cpu_level([=] { m.row(y, x, n, ys, xs); });
      };
      displace(is_sequence ? in.frame(f) : in, is_sequence ? out.frame(f) : out, placing(), where,
               r.scratch);
    }
  }
  static void run_gpu(GpuRun& r, std::span<const Remap* const> items) {
    std::vector<std::pair<size_t, int64_t>> frames;  // of an item
    for (size_t i = 0; i < items.size(); ++i) {
      const Shape& s = r.items[i].outputs[0].full;
      for (int64_t f = 0; f < (s.rank == 4 ? s[0] : 1); ++f) frames.emplace_back(i, f);
    }
    const auto image = [&](size_t k) {
      const auto [i, f] = frames[k];
      const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
      if (out.full.rank < 4) return DisplacedPicture{in, out, items[i]->placing()};
      return DisplacedPicture{in.frame(f), out.frame(f), items[i]->placing()};
    };
    displace(r, frames.size(), image, [&](size_t k) {
      const auto [i, f] = frames[k];
      return items[i]->maps(r.items[i].inputs, f);
    });
  }

  static std::vector<Case> cases() {
    return {
        {"interp=types.INTERP_NN",
         {"uint8 HWC [[[1], [2]], [[3], [4]]]", "float32 [[1.5, 0, 2]]", "float32 [[0, 1, 0]]"},
         {"uint8 [[[2], [3], [0]]]"}},
        {"",
         {"float32 HWC [[[1, 5], [3, 7]]]", "float32 [[[1]]]", "float32 [[[0.5]]]"},
         {"float32 [[[2, 6]]]"}},
        {"interp=types.INTERP_CUBIC",
         {"float32 HWC [[[0], [16], [32], [48]]]", "float32 [[2, 2.5, 3]]",
          "float32 [[0.5, 0.5, 0.5]]"},
         {"float32 [[[24], [32], [44]]]"}},
        {"pixel_origin=\"center\"",
         {"int16 FHWC [[[[1], [3]]], [[[5], [9]]]]", "float32 [[0.5]]",
          "float32 FHW [[[0]], [[0]]]"},
         {"int16 [[[[2]]], [[[7]]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Remap)
