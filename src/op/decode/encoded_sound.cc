// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_sound.h"

#include <algorithm>

#include "kernels/fused/fused.h"
#include "op/loops/resample_channels.h"

namespace stoker {

EncodedSound::EncodedSound(const View& encoded, const SoundOptions& options)
    : sound_(open_sound(bytes_of(encoded))), options_(options) {}

Shape EncodedSound::shape() const {
  const int64_t stored = sound_->info().frames;
  const int64_t frames = is_resampled() ? resampled_length(stored, scale()) : stored;
  return options_.downmix ? Shape{frames} : Shape{frames, channels()};
}

void EncodedSound::decode(const SignalWeights& weights, Run& r) const {
  const View& out = r.outputs[0];
  if (out.shape.volume() == 0) return;
  const int64_t begin = out.origin[0], end = begin + out.shape[0];
  const int64_t judged_end = r.judged.empty() ? end : r.judged[0].end[0];
  // Full intensity of integers is a power of two, as in what floats of integers are made by.
  const float full = out.dtype == DType::kInt16   ? 0x1p15f
                     : out.dtype == DType::kInt32 ? 0x1p31f
                                                  : 1;
  if (is_resampled()) {
    const SignalResampler resampler = weights.resampler(scale());
    const int64_t length = sound_->info().frames;
    const auto [first, last] = resampler.needed(begin, end, length);
    const int64_t judged_last = resampler.needed(begin, judged_end, length).end;
    const View from = floats(first, last, judged_last, r.scratch);
    return resample_channels(resampler, from, out, full, r.scratch);
  }
  const bool is_exact = out.dtype == DType::kFloat32 || sound_->info().is_integer;
  if (is_mixed() || !is_exact) {
    const Block block{Pointwise{{}, {full}, {}}, out.dtype};
    return run_blocks({&block, 1}, floats(begin, end, judged_end, r.scratch), out, r.scratch);
  }
  if (out.is_dense() && (options_.downmix || out.shape[1] == channels()))
    return read(begin, end, judged_end, out.dtype, out.data);
  View all = frames(begin, end, out.dtype, r.scratch);
  read(begin, end, judged_end, out.dtype, all.data);
  const Block block{Convert{}, out.dtype};
  run_blocks({&block, 1}, all, out, r.scratch);
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
