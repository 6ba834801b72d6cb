// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "op/decode/encoded_sound.h"
#include "op/type_of.h"

namespace stoker::ops::decode {

struct Audio {
  float sample_rate = 0, quality = 50;
  bool downmix = false;
  DType dtype = DType::kFloat32;
  std::shared_ptr<const SignalWeights> weights;

  static constexpr auto schema = describe(
      "decoders.audio",
      "Decodes a sound.\n\n"
      "Reads WAV, FLAC, Ogg (Vorbis, Opus), MP3, AIFF and AU, which it recognises by their "
      "content; stoker.codecs() lists them. The samples have the shape (frames, channels), or "
      "(frames,) with downmix. Floats lie between -1 and 1; integers are 2^15 or 2^31 times as "
      "large, and those of a file stay exact without downmix and resampling.",
      ports(encoded_port("The encoded sound: uint8 of shape (size,).")),
      ports({.name = "samples", .help = "The samples."},
            {.name = "rate", .help = "Frames a second: one number, float32."}),
      arg(&Audio::sample_rate, "sample_rate",
          "Frames a second that the sound is resampled to, as audio_resample does it. 0 keeps the "
          "rate of the file.",
          at_least(0), kPerSample),
      arg(&Audio::quality, "quality",
          "Quality of resampling: 0 takes 3 lobes of the sinc, 50 takes 16, 100 takes 64.",
          between(0, 100)),
      arg(&Audio::downmix, "downmix", "Whether all channels become one, their mean."),
      arg(&Audio::dtype, "dtype", "Output dtype: FLOAT, INT16 or INT32."));

  void prepare() { weights = SignalWeights::of(quality); }

  void check(Checker& c) const {
    require_encoded(c);
    require(dtype == DType::kFloat32 || dtype == DType::kInt16 || dtype == DType::kInt32,
            "argument 'dtype' is ", name_of(dtype), ", expected FLOAT, INT16 or INT32");
    c.out({dtype, {}, Shape::filled(downmix ? 1 : 2, -1)});
    c.out({DType::kFloat32, {}, {}});
  }

  void infer(Inference& i) const {
    const auto& sound =
        i.kept.set(EncodedSound(i.values[0], {.rate = sample_rate, .downmix = downmix}));
    i.out({dtype, {}, sound.shape()});
    i.out({DType::kFloat32, {}, {}});
  }

  void run_cpu(Run& r) const {
    const auto& sound = r.kept.get<EncodedSound>();
    *r.outputs[1].as<float>() = sound.rate();
    sound.decode(*weights, r.outputs[0], r.judged, r.scratch);
  }

  static std::vector<Case> cases() {
    return {
        {"", {kTinyWav}, {"float32 [[0, 0.5], [-1, 0.25], [0.5, 0.5]]", "float32 8000"}},
        {"downmix=True", {kTinyWav}, {"float32 [0.25, -0.375, 0.5]", "float32 8000"}},
        {"dtype=types.INT16, sample_rate=4000",
         {kTinyWav},
         {"int16 [[0, 16384], [16384, 16384]]", "float32 4000"}},
    };
  }

 private:
  // A WAV of 16 bits with two channels and three frames.
  static constexpr const char* kTinyWav =
      "uint8 [82, 73, 70, 70, 48, 0, 0, 0, 87, 65, 86, 69, 102, 109, 116, 32, 16, 0, 0, 0, 1, "
      "0, 2, 0, 64, 31, 0, 0, 0, 125, 0, 0, 4, 0, 16, 0, 100, 97, 116, 97, 12, 0, 0, 0, 0, 0, "
      "0, 64, 0, 128, 0, 32, 0, 64, 0, 64]";
};

}  // namespace stoker::ops::decode

STOKER_OPERATOR(stoker::ops::decode::Audio)
