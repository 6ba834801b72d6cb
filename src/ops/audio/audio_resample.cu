// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "op/arguments/dtype_argument.h"
#include "op/loops/gpu_resample_signal.cuh"
#include "op/loops/resample_channels.h"
#include "op/type_of.h"

namespace stoker::ops::audio {

struct AudioResample : DtypeArgument {
  std::optional<float> scale, in_rate, out_rate;
  std::optional<int64_t> out_length;
  float quality = 50;
  std::shared_ptr<const SignalWeights> weights;

  static constexpr auto schema = describe(
      "audio_resample",
      "Changes the sampling rate of a signal by windowed sinc interpolation.\n\n"
      "The new length is ceil(length * scale), where out_rate / in_rate is a scale that is not "
      "rounded, or out_length. What lies outside of the signal is 0. A signal that shrinks is not "
      "filtered before, so frequencies above half of the new rate come back as lower ones. "
      "Integers keep the place that they have in their full range, which is -1 to 1 of floats.",
      ports({.name = "input", .help = "A signal (frames,), or several (frames, channels)."}),
      ports({.name = "output", .help = "The signal at the new rate."}),
      arg(&AudioResample::scale, "scale", "The new rate over the old one.", at_least(0),
          kPerSample),
      arg(&AudioResample::in_rate, "in_rate", "The old rate. Needs out_rate.", at_least(0),
          kPerSample),
      arg(&AudioResample::out_rate, "out_rate", "The new rate. Needs in_rate.", at_least(0),
          kPerSample),
      arg(&AudioResample::out_length, "out_length",
          "The new length, whose share of the old one is the scale.", at_least(0), kPerSample),
      arg(&AudioResample::quality, "quality",
          "0 takes 3 lobes of the sinc, 50 takes 16, 100 takes 64.", between(0, 100)),
      kDtypeArgument);

  void prepare() { weights = SignalWeights::of(quality); }

  void check(Checker& c) const {
    const bool by_scale = scale || c.is_computed("scale");
    const bool in = in_rate || c.is_computed("in_rate");
    const bool out = out_rate || c.is_computed("out_rate");
    const bool by_length = out_length || c.is_computed("out_length");
    require(in == out, "arguments 'in_rate' and 'out_rate' go together");
    require(by_scale + in + by_length == 1,
            "give one of scale, of in_rate with out_rate, and of out_length");
    require(c.in().dtype != DType::kBool && dtype != DType::kBool, "a signal is not of BOOL");
    TensorType t = checked(c.in());
    if (t.shape.rank > 0) t.shape[0] = -1;
    c.out(t);
  }
  void infer(Inference& i) const {
    TensorType t = checked(i.inputs[0]);
    t.shape[0] = out_length ? *out_length : ratio(t.shape[0]).length_of(t.shape[0]);
    require(t.shape.is_possible(), "the output would have the shape ", t.shape);
    i.out(t);
  }
  void demand(Demand& d) const {
    const int64_t length = d.inputs[0].shape[0];
    const Window& wanted = d.wanted[0];
    const auto [begin, end] =
        weights->resampler(ratio(length)).needed(wanted.begin[0], wanted.end[0], length);
    d.needed[0] = wanted;
    d.needed[0].begin[0] = begin;
    d.needed[0].end[0] = end;
  }

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    if (out.shape.volume() == 0) return;
    resample_channels(weights->resampler(ratio(in.full[0])), in, out,
                      SignalScaling::between(in.dtype, out.dtype), r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const AudioResample* const> items) {
    std::vector<RateRatio> ratios;
    for (size_t i = 0; i < items.size(); ++i)
      ratios.push_back(items[i]->ratio(r.items[i].inputs[0].full[0]));
    const BatchItem& first = r.items[0];
    resample_signals(r, *items[0]->weights, ratios,
                     SignalScaling::between(first.inputs[0].dtype, first.outputs[0].dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"scale=0.5", {"float32 [1, 2, 3, 4, 5]"}, {"float32 [1, 3, 5]"}},
        {"in_rate=4.0, out_rate=1.0, dtype=types.UINT8",
         {"int8 [[127, 0], [1, 1], [2, 2], [3, 3], [63, -127]]"},
         {"uint8 [[255, 128], [191, 0]]"}},
        {"out_length=2, quality=0.0", {"int16 [7, 8]"}, {"int16 [7, 8]"}},
    };
  }

 private:
  TensorType checked(const TensorType& in) const {
    require(in.shape.rank < 0 || in.shape.rank == 1 || in.shape.rank == 2,
            "the input is a signal with one axis, or two with channels, got ", in.shape);
    return {dtype.value_or(in.dtype), in.layout, in.shape};
  }
  RateRatio ratio(int64_t length) const {
    double to = 0, from = 1;
    if (out_length) {
      to = static_cast<double>(*out_length);
      from = static_cast<double>(std::max<int64_t>(length, 1));
    } else {
      to = in_rate ? *out_rate : *scale;
      from = in_rate ? *in_rate : 1;
      require(to / from > 0 && to / from <= RateRatio::kMost, "the new rate is ",
              static_cast<float>(to / from), " of the old one, expected more than 0 and at most ",
              RateRatio::kMost);
    }
    const RateRatio r = RateRatio::of(to, from);
    require(r.covers(length), "a signal of ", length, " values is too long to be resampled");
    return r;
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::AudioResample)
