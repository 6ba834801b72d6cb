// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts a picture into bands. A number says how many outputs there are, also on a device.
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::example {

struct Bands {
  // Copies a window of a band that begins at `row` of the picture.
  struct Work {
    const std::byte* from;
    Shape strides, shape;
    uint8_t* to;
    int64_t pieces;

    Work(const View& in, const View& out, int64_t row)
        : from(in.as<std::byte>() + row * in.strides[0]),
          strides(in.strides),
          shape(out.shape),
          to(out.as<uint8_t>()),
          pieces(shape.volume()) {
      for (int a = 0; a < shape.rank; ++a) from += (out.origin[a] - in.origin[a]) * strides[a];
    }
    STOKER_HD void run(int64_t k) const {
      const std::byte* p = from;
      int64_t rest = k;
      for (int a = shape.rank - 1; a >= 0; --a) {
        p += rest % shape[a] * strides[a];
        rest /= shape[a];
      }
      to[k] = static_cast<uint8_t>(*p);
    }
  };

  int count = 0;
  static constexpr auto schema =
      describe("example.bands",
               "Cuts a picture into bands of rows.\n\n"
               "All have the same height, but the last has the rows that are left over.",
               ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"}),
               ports({.name = "band", .help = "A band.", .for_each = "count"}),
               arg(&Bands::count, "count", "How many bands.", kRequired));

  int64_t height(int64_t rows) const { return rows / count; }
  void check(Checker& c) const {
    TensorType band = c.in();
    band.shape[0] = -1;
    for (int k = 0; k < count; ++k) c.out(band);
  }
  void infer(Inference& i) const {
    const int64_t rows = i.inputs[0].shape[0];
    for (int k = 0; k < count; ++k) {
      TensorType band = i.inputs[0];
      band.shape[0] = k + 1 < count ? height(rows) : rows - k * height(rows);
      i.out(band);
    }
  }
  std::vector<Work> work(const View& in, std::span<const View> bands) const {
    std::vector<Work> all;
    for (const View& band : bands)
      all.emplace_back(in, band, static_cast<int64_t>(all.size()) * height(in.full[0]));
    return all;
  }
  void run_cpu(Run& r) const {
    for (const Work& w : work(r.inputs[0], r.outputs))
      for (int64_t k = 0; k < w.pieces; ++k) w.run(k);
  }
  static void run_gpu(GpuRun& r, std::span<const Bands* const> items) {
    std::vector<Work> all;
    for (size_t i = 0; i < items.size(); ++i)
      for (const Work& w : items[i]->work(r.items[i].inputs[0], r.items[i].outputs))
        all.push_back(w);
    run_each(r, std::span<const Work>(all));
  }
  static std::vector<Case> cases() {
    return {
        {"count=2", {"uint8 HWC [[[1]], [[2]], [[3]]]"}, {"uint8 [[[1]]]", "uint8 [[[2]], [[3]]]"}},
        {"count=1", {"uint8 HWC [[[7, 8]]]"}, {"uint8 [[[7, 8]]]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Bands)
