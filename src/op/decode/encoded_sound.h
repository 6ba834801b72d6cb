// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// An encoded sound and how a user wants it decoded.
#pragma once
#include <memory>

#include "codec/sound/sound.h"
#include "kernels/signal/resample_signal.h"
#include "op/decode/encoded_bytes.h"

namespace stoker {

struct SoundOptions {
  float rate = 0;  // frames a second; 0 keeps that of the file
  bool downmix = false;
  // The part that counts as the sound, in seconds. A negative duration means up to the end.
  double offset = 0, duration = -1;
};

// What a decoder learns in infer() and keeps for the work. Requires: the bytes have one dense axis
// and outlive this.
class EncodedSound {
 public:
  // Reads the header. Throws SampleError.
  EncodedSound(const View& encoded, const SoundOptions& options);
  // (frames, channels), or (frames) where channels are mixed.
  Shape shape() const;
  float rate() const { return options_.rate > 0 ? options_.rate : stored_rate(); }
  float stored_rate() const { return static_cast<float>(sound_->info().rate); }
  // Decodes a window of the samples. `judged`: as in Run. Throws SampleError.
  void decode(const SignalWeights& weights, const View& out, std::span<const Window> judged,
              Arena& scratch) const;

 private:
  bool is_resampled() const { return options_.rate > 0 && options_.rate != stored_rate(); }
  bool is_mixed() const { return options_.downmix && sound_->info().channels > 1; }
  RateRatio ratio() const { return RateRatio::of(options_.rate, sound_->info().rate); }
  int64_t channels() const { return options_.downmix ? 1 : sound_->info().channels; }
  // Room for frames [begin, end) at the stored rate, with the output's channels.
  View frames(int64_t begin, int64_t end, DType dtype, Arena& scratch) const;
  // Reads frames [begin, end), with all channels or, as floats, those of the output. Damage from
  // `judged_end` on becomes zeros.
  void read(int64_t begin, int64_t end, int64_t judged_end, DType dtype, void* out) const;
  View floats(int64_t begin, int64_t end, int64_t judged_end, Arena& scratch) const;

  std::shared_ptr<OpenSound> sound_;
  SoundOptions options_;
};

}  // namespace stoker
