// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/encoded_sound.h"

#include <algorithm>

#include "kernels/fused/fused.h"
#include "op/rules.h"

namespace stoker {

EncodedSound::EncodedSound(const View& encoded, const SoundOptions& options) : options_(options) {
  require(encoded.shape.rank == 1, "an encoded sound has one axis, got the shape ", encoded.shape);
  sound_ = open_sound({encoded.as<const uint8_t>(), static_cast<size_t>(encoded.shape[0])});
}

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
  const bool is_exact = out.dtype == DType::kFloat32 || sound_->info().is_integer;
  if (!is_resampled() && !is_mixed() && is_exact && out.is_dense() &&
      (options_.downmix || out.shape[1] == channels()))
    return read(begin, end, judged_end, out.dtype, out.data);
  View made;
  Block block{Convert{}, out.dtype};
  if (!is_resampled() && !is_mixed() && is_exact) {
    made = View::window(nullptr, out.dtype, {{begin, 0}, {end, channels()}}, shape());
    made.data = r.scratch.allocate(static_cast<size_t>(made.bytes()));
    read(begin, end, judged_end, out.dtype, made.data);
  } else {
    made = is_resampled() ? resampled(weights, begin, end, judged_end, r.scratch)
                          : mixed(begin, end, judged_end, r.scratch);
    // Full intensity is a power of two, as in what floats of integers are made by.
    if (out.dtype == DType::kInt16) block.kind = Pointwise{{}, {0x1p15f}, {}};
    if (out.dtype == DType::kInt32) block.kind = Pointwise{{}, {0x1p31f}, {}};
  }
  if (options_.downmix)
    for (Shape* s : {&made.shape, &made.strides, &made.origin, &made.full}) s->rank = 1;
  run_blocks({&block, 1}, made, out, r.scratch);
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

View EncodedSound::mixed(int64_t begin, int64_t end, int64_t judged_end, Arena& scratch) const {
  const int64_t stored = sound_->info().channels;
  View made = View::window(nullptr, DType::kFloat32, {{begin, 0}, {end, channels()}},
                           {sound_->info().frames, channels()});
  made.data = scratch.allocate(static_cast<size_t>(made.bytes()));
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

View EncodedSound::resampled(const SignalWeights& weights, int64_t begin, int64_t end,
                             int64_t judged_end, Arena& scratch) const {
  const SignalResampler r = weights.resampler(scale());
  const int64_t stored = sound_->info().frames, lanes = channels();
  const auto needed_end = [&](int64_t i) {
    return std::clamp<int64_t>(i > 0 ? r.first(i - 1) + r.taps : 0, 0, stored);
  };
  const int64_t first = std::clamp<int64_t>(r.first(begin), 0, stored);
  const int64_t last = std::max(first, needed_end(end));
  const View from = mixed(first, last, needed_end(judged_end), scratch);
  View made = View::window(nullptr, DType::kFloat32, {{begin, 0}, {end, lanes}},
                           {resampled_length(stored, scale()), lanes});
  made.data = scratch.allocate(static_cast<size_t>(made.bytes()));
  const PaddedSignal signal(r, last - first, scratch);
  float* row = lanes > 1 ? scratch.array<float>(static_cast<size_t>(end - begin)) : nullptr;
  for (int64_t c = 0; c < lanes; ++c) {
    for (int64_t k = 0; k < last - first; ++k)
      signal.values[k] = from.as<const float>()[k * lanes + c];
    float* to = row ? row : made.as<float>();
    resample_signal(r, signal.values, first, begin, end - begin, to);
    for (int64_t i = 0; row && i < end - begin; ++i) made.as<float>()[i * lanes + c] = row[i];
  }
  return made;
}

}  // namespace stoker
