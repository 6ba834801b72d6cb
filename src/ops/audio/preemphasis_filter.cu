// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/fill.h"
#include "kernels/fused_device/value.h"
#include "kernels/strided_copy.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker {

enum class SignalBorder : uint8_t { kZero, kClamp, kReflect };
template <>
struct EnumNames<SignalBorder> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"zero", "clamp", "reflect"};
};

namespace ops::audio {

struct PreemphasisFilter {
  SignalBorder border = SignalBorder::kClamp;
  DType dtype = DType::kFloat32;
  float preemph_coeff = 0.97f;

  // Value k of the output, of values that `At` gives by their number.
  template <class At>
  struct Filtered {
    At at;
    float coefficient;
    SignalBorder border;
    int64_t size;
    STOKER_HD float operator()(int64_t k) const {
      if (k >= size) return 0;
      float before = 0;
      if (k > 0) before = at(k - 1);
      else if (border == SignalBorder::kClamp) before = at(0);
      else if (border == SignalBorder::kReflect) before = at(size > 1 ? 1 : 0);
      return detail::add_once(at(k), -detail::mul_once(coefficient, before));
    }
  };
  struct AtRow {
    const float* values;
    STOKER_HD float operator()(int64_t k) const { return values[k]; }
  };
  struct AtAxes {
    const std::byte* in;
    Axes axes;
    DType dtype;
    STOKER_HD float operator()(int64_t k) const {
      return number_of<float>(load_value(in + axes.offset(k), dtype));
    }
  };

  static constexpr auto schema = describe(
      "preemphasis_filter",
      "Strengthens high frequencies: x[i] - preemph_coeff * x[i - 1].\n\n"
      "The values of a tensor count as one signal, with the last axis running fastest.",
      ports({.name = "input", .help = "A signal."}),
      ports({.name = "output", .help = "The filtered signal."}),
      arg(&PreemphasisFilter::border, "border",
          "What lies before the first value: 0 ('zero'), that value ('clamp') or the second one "
          "('reflect')."),
      arg(&PreemphasisFilter::dtype, "dtype", "Output dtype. Values are rounded and saturate."),
      arg(&PreemphasisFilter::preemph_coeff, "preemph_coeff", "The factor.", kPerSample));

  template <class At>
  Filtered<At> filtered(const At& at, int64_t size) const {
    return {at, preemph_coeff, border, size};
  }
  TensorType type(const TensorType& in) const { return {dtype, in.layout, in.shape}; }
  void check(Checker& c) const { c.out(type(c.in())); }
  void infer(Inference& i) const { i.out(type(i.inputs[0])); }

  void run_cpu(Run& r) const {
    const View& in = r.inputs[0];
    const int64_t size = in.shape.volume();
    const auto* values = in.as<const float>();
    if (in.dtype != DType::kFloat32 || !in.is_dense()) {
      auto* dense = r.scratch.array<std::byte>(static_cast<size_t>(in.bytes()));
      auto* made = r.scratch.array<float>(static_cast<size_t>(size));
      copy_to_dense(in, dense);
      convert_row(dense, in.dtype, made, DType::kFloat32, size);
      values = made;
    }
    const auto all = filtered(AtRow{values}, size);
    fill_rows<float>(r.outputs[0], [&](int64_t first, int64_t n, float* to) {
      if (first == 0) *to = all(0);
      const int64_t begin = first == 0;
      const float* from = values + first;
      const float coefficient = preemph_coeff;
      at_cpu_level([=] {
        for (int64_t k = begin; k < n; ++k)
          to[k] = detail::add_once(from[k], -detail::mul_once(coefficient, from[k - 1]));
      });
    });
  }
  static void run_gpu(GpuRun& r, std::span<const PreemphasisFilter* const> items) {
    fill<float>(r, [&](size_t i) {
      const View& in = r.items[i].inputs[0];
      const Strided s = Strided::of(in);
      const AtAxes at{s.data + s.offset, Axes(in.full, in.strides), in.dtype};
      return items[i]->filtered(at, in.full.volume());
    });
  }

  static std::vector<Case> cases() {
    return {
        {"preemph_coeff=0.5", {"float32 [1, 2, 4]"}, {"float32 [0.5, 1.5, 3]"}},
        {"preemph_coeff=0.5, border=\"zero\", dtype=types.INT16",
         {"int16 [10, 100, -300]"},
         {"int16 [10, 95, -350]"}},
        {"preemph_coeff=1.0, border=\"reflect\"",
         {"float32 [[1, 4], [9, 9]]"},
         {"float32 [[-3, 3], [5, 0]]"}},
    };
  }
};

}  // namespace ops::audio
}  // namespace stoker

STOKER_OPERATOR(stoker::ops::audio::PreemphasisFilter)
