// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts patches out of a picture. Where they lie is a value, which the GPU half reads on the host
// while its picture is on the device.
#include <algorithm>

#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::example {

struct Patches {
  // One patch: places behind the picture's edge show that edge.
  struct Work {
    const std::byte* from;
    int64_t stride_y, stride_x, stride_c, height, width, channels, top, left, size;
    uint8_t* to;
    int64_t pieces;

    STOKER_HD static int64_t inside(int64_t place, int64_t extent) {
      return place < 0 ? 0 : place < extent ? place : extent - 1;
    }
    STOKER_HD void run(int64_t k) const {
      const int64_t c = k % channels, x = k / channels % size, y = k / channels / size;
      to[k] = static_cast<uint8_t>(from[inside(top + y, height) * stride_y +
                                        inside(left + x, width) * stride_x + c * stride_c]);
    }
  };

  int size = 1;
  static constexpr auto schema = describe(
      "example.patches", "Cuts square patches out of a picture.\n\nThe edge is repeated.",
      ports({.name = "input", .help = "Picture.", .layouts = "HWC", .dtypes = "uint8"},
            {.name = "corners",
             .help = "Top and left of each.",
             .dtypes = "int32",
             .is_value = true}),
      ports({.name = "output", .help = "The patches, (count, size, size, channels)."}),
      arg(&Patches::size, "size", "Height and width of a patch.", between(1, 64), kPerSample));

  void check(Checker& c) const { c.out({DType::kUint8, "", {-1, -1, -1, -1}}); }
  void infer(Inference& i) const {
    const View& corners = i.values[1];
    require(corners.shape.rank == 2 && corners.shape[1] == 2, "a corner has two places");
    for (int64_t k = 0; k < corners.shape.volume(); ++k)
      require(element(corners, k) < 1000, "a patch is too far away");
    const Shape& in = i.inputs[0].shape;
    require(in.volume() > 0, "the picture is empty");
    i.out({DType::kUint8, "", {corners.shape[0], size, size, in[2]}});
  }
  static void add(const View& in, const View& corners, const View& out, int64_t size,
                  std::vector<Work>& work) {
    const int64_t bytes = size * size * in.shape[2];
    for (int64_t k = 0; k < corners.shape[0]; ++k)
      work.push_back({in.as<std::byte>(), in.strides[0], in.strides[1], in.strides[2], in.shape[0],
                      in.shape[1], in.shape[2], static_cast<int64_t>(element(corners, 2 * k)),
                      static_cast<int64_t>(element(corners, 2 * k + 1)), size,
                      out.as<uint8_t>() + k * bytes, bytes});
  }
  // Makes whole patches, of which others may want a window.
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    View whole = View::dense(nullptr, out.dtype, out.full);
    std::vector<uint8_t> made(static_cast<size_t>(whole.bytes()));
    whole.data = made.data();
    std::vector<Work> work;
    add(r.inputs[0], r.inputs[1], whole, size, work);
    for (const Work& w : work)
      for (int64_t k = 0; k < w.pieces; ++k) w.run(k);
    for (int64_t k = 0; k < out.shape.volume(); ++k) {
      int64_t rest = k, from = 0, weight = 1;
      for (int a = out.shape.rank - 1; a >= 0; --a) {
        from += (out.origin[a] + rest % out.shape[a]) * weight;
        weight *= out.full[a], rest /= out.shape[a];
      }
      out.as<uint8_t>()[k] = made[static_cast<size_t>(from)];
    }
  }
  static void run_gpu(GpuRun& r, std::span<const Patches* const> items) {
    std::vector<Work> work;
    for (size_t i = 0; i < items.size(); ++i)
      add(r.items[i].inputs[0], r.items[i].inputs[1], r.items[i].outputs[0], items[i]->size, work);
    run_each(r, std::span<const Work>(work));
  }
  static std::vector<Case> cases() {
    return {{"",
             {"uint8 HWC [[[1], [2]], [[3], [4]]]", "int32 [[1, 0], [0, 1]]"},
             {"uint8 [[[[3]]], [[[2]]]]"}},
            {"size=2",
             {"uint8 HWC [[[1], [2]]]", "int32 [[0, 1]]"},
             {"uint8 [[[[2], [2]], [[2], [2]]]]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Patches)
