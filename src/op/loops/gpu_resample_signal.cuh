// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/signal/resample_signal.h"
#include "op/loops/gpu_each.cuh"
#include "op/loops/resample_channels.h"

namespace stoker {

// Element k of signals with zeros around them, channel after channel.
struct PadSignal {
  struct Load {
    const std::byte* from;
    float& to;
    template <class T>
    STOKER_HD void operator()(T) const {
      to = convert<float>(*reinterpret_cast<const T*>(from));
    }
  };
  const std::byte* in;  // value 0 of channel 0
  DType dtype;
  int64_t step, channel_step;  // in bytes
  int64_t begin, end;  // which values there are; the others do not count
  int64_t before, padded;
  SignalScaling scaling;
  float* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const int64_t at = k % padded - before;
    out[k] = 0;
    if (at < begin || at >= end) return;
    with_type(dtype, Load{in + at * step + k / padded * channel_step, out[k]});
    if (scaling.offset != 0)
      out[k] = detail::add_once(detail::mul_once(out[k], scaling.gain), scaling.offset);
  }
};

struct ResampleSignal {
  struct Store {
    float value;
    std::byte* to;
    template <class T>
    STOKER_HD void operator()(T) const {
      *reinterpret_cast<T*>(to) = convert<T>(value);
    }
  };
  SignalResampler resampler;
  const float* in;
  int64_t padded, channels;
  float factor;
  std::byte* out;
  DType dtype;
  int size;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    const float* channel = in + k % channels * padded + resampler.lobes;
    const float value = detail::mul_once(resampler.value(k / channels, channel, 0), factor);
    with_type(dtype, Store{value, out + k * size});
  }
};

// Resamples signals from input 0 to output 0 of a batch. `ratios`: by item.
inline void resample_signals(GpuRun& r, const SignalWeights& weights,
                             std::span<const RateRatio> ratios, const SignalScaling& scaling) {
  const float* rows = r.put(std::span<const float>(weights.rows));
  std::vector<PadSignal> loads;
  std::vector<ResampleSignal> work;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
    if (out.shape.volume() == 0) continue;
    const bool has_channels = in.shape.rank > 1;
    const int64_t channels = has_channels ? in.full[1] : 1;
    const int64_t padded = weights.lobes + in.full[0] + weights.taps;
    const auto floats = static_cast<size_t>(padded * channels);
    auto* signals = reinterpret_cast<float*>(r.scratch(floats * sizeof(float)));
    const Strided from = Strided::of(in);
    loads.push_back({from.data + from.offset, in.dtype, from.stride[0],
                     has_channels ? from.stride[1] : 0, in.origin[0], in.origin[0] + in.shape[0],
                     weights.lobes, padded, scaling, signals, padded * channels});
    SignalResampler resampler = weights.resampler(ratios[i]);
    resampler.weights = rows;
    work.push_back({resampler, signals, padded, channels, scaling.factor, out.as<std::byte>(),
                    out.dtype, size_of(out.dtype), out.shape.volume()});
  }
  run_each(r, std::span<const PadSignal>(loads));
  run_each(r, std::span<const ResampleSignal>(work));
}

}  // namespace stoker
