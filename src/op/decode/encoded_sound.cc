// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_sound.h"

#include <algorithm>

#include "kernels/fused/fused.h"
#include "op/loops/resample_channels.h"

namespace stoker {

namespace {

class PartOfSound final : public OpenSound {
 public:
  PartOfSound(std::shared_ptr<OpenSound> whole, const SoundOptions& options)
      : whole_(std::move(whole)), info_(whole_->info()) {
    const auto frames = [&](double seconds) {
      return static_cast<int64_t>(std::min(seconds * info_.rate, 0x1p62));
    };
    begin_ = options.offset > 0 ? frames(options.offset) : 0;
    if (begin_ > info_.frames)
      throw SampleError("the part begins at frame " + std::to_string(begin_) + ", and there are " +
                        std::to_string(info_.frames));
    info_.frames -= begin_;
    if (options.duration < 0) return;
    const int64_t wanted = frames(options.duration);
    // Durations are rounded, and some programs estimate them.
    if (wanted - info_.frames > info_.rate / 10)
      throw SampleError(
          "the part should last " + std::to_string(options.duration) + " s, but only " +
          std::to_string(static_cast<double>(info_.frames) / info_.rate) + " s are there");
    info_.frames = std::min(info_.frames, wanted);
  }
  const SoundInfo& info() const override { return info_; }
  void read(int64_t begin, int64_t count, DType dtype, void* out) override {
    whole_->read(begin_ + begin, count, dtype, out);
  }

 private:
  const std::shared_ptr<OpenSound> whole_;
  SoundInfo info_;
  int64_t begin_;
};

}  // namespace

EncodedSound::EncodedSound(const View& encoded, const SoundOptions& options)
    : sound_(open_sound(bytes_of(encoded))), options_(options) {
  if (options.offset > 0 || options.duration >= 0)
    sound_ = std::make_shared<PartOfSound>(std::move(sound_), options);
  if (is_resampled() &&
      (options.rate > RateRatio::kMost * stored_rate() || !ratio().covers(sound_->info().frames)))
    throw SampleError("a sound of " + std::to_string(sound_->info().rate) +
                      " frames a second cannot be resampled to " + std::to_string(options.rate));
}

Shape EncodedSound::shape() const {
  const int64_t stored = sound_->info().frames;
  const int64_t frames = is_resampled() ? ratio().length_of(stored) : stored;
  return options_.downmix ? Shape{frames} : Shape{frames, channels()};
}

void EncodedSound::decode(const SignalWeights& weights, const View& out,
                          std::span<const Window> judged, Arena& scratch) const {
  if (out.shape.volume() == 0) return;
  const int64_t begin = out.origin[0], end = begin + out.shape[0];
  const int64_t judged_end = judged.empty() ? end : judged[0].end[0];
  // Full intensity of integers is a power of two, as where they become floats.
  const float full = out.dtype == DType::kInt16   ? 0x1p15f
                     : out.dtype == DType::kInt32 ? 0x1p31f
                                                  : 1;
  if (is_resampled()) {
    const SignalResampler resampler = weights.resampler(ratio());
    const int64_t length = sound_->info().frames;
    const auto [first, last] = resampler.needed(begin, end, length);
    const int64_t judged_last = resampler.needed(begin, judged_end, length).end;
    const View from = floats(first, last, judged_last, scratch);
    return resample_channels(resampler, from, out, {.factor = full}, scratch);
  }
  const bool is_exact = out.dtype == DType::kFloat32 || sound_->info().is_integer;
  if (is_mixed() || !is_exact) {
    const Block block{Pointwise{{}, {full}, {}}, out.dtype};
    return run_blocks({&block, 1}, floats(begin, end, judged_end, scratch), out, scratch);
  }
  if (out.is_dense() && (options_.downmix || out.shape[1] == channels()))
    return read(begin, end, judged_end, out.dtype, out.data);
  View all = frames(begin, end, out.dtype, scratch);
  read(begin, end, judged_end, out.dtype, all.data);
  const Block block{Convert{}, out.dtype};
  run_blocks({&block, 1}, all, out, scratch);
}

View EncodedSound::frames(int64_t begin, int64_t end, DType dtype, Arena& scratch) const {
  Window w{{begin, 0}, {end, channels()}};
  Shape full{sound_->info().frames, channels()};
  if (options_.downmix) w.begin.rank = w.end.rank = full.rank = 1;
  View v = View::window(nullptr, dtype, w, full);
  v.data = scratch.allocate(static_cast<size_t>(v.bytes()));
  return v;
}

void EncodedSound::read(int64_t begin, int64_t end, int64_t judged_end, DType dtype,
                        void* out) const {
  const int64_t sure = std::clamp(judged_end, begin, end);
  sound_->read(begin, sure - begin, dtype, out);
  if (sure == end) return;
  const int64_t frame = int64_t{size_of(dtype)} * sound_->info().channels;
  auto* rest = static_cast<std::byte*>(out) + (sure - begin) * frame;
  std::fill_n(rest, (end - sure) * frame, std::byte{0});
  try {
    sound_->read(sure, end - sure, dtype, rest);
  } catch (const SampleError&) {
    return;  // nothing that later operators need is damaged
  }
}

View EncodedSound::floats(int64_t begin, int64_t end, int64_t judged_end, Arena& scratch) const {
  const int64_t stored = sound_->info().channels;
  const View made = frames(begin, end, DType::kFloat32, scratch);
  if (!is_mixed()) {
    read(begin, end, judged_end, DType::kFloat32, made.data);
    return made;
  }
  constexpr int64_t kAtOnce = 4096;
  float* some = scratch.array<float>(static_cast<size_t>(kAtOnce * stored));
  float* to = made.as<float>();
  for (int64_t at = begin; at < end; at += kAtOnce) {
    const int64_t next = std::min(end, at + kAtOnce);
    read(at, next, judged_end, DType::kFloat32, some);
    for (const float* frame = some; frame < some + (next - at) * stored; frame += stored) {
      float sum = 0;
      for (int64_t c = 0; c < stored; ++c) sum += frame[c];
      *to++ = sum / static_cast<float>(stored);
    }
  }
  return made;
}

}  // namespace stoker
