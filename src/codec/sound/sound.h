// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoded sound becomes numbers. This is what every sound format offers.
#pragma once
#include <memory>

#include "codec/codec.h"

namespace stoker {

struct SoundInfo {
  const char* format = "";  // "WAV"
  int64_t frames = 0;  // one number of each channel
  int channels = 0;
  int rate = 0;  // frames a second
  bool is_integer = false;  // as stored, so that int16 and int32 are exact
};

// Sounds of more numbers, of all channels together, are refused.
constexpr int64_t kMostNumbers = int64_t{1} << 30;

// A sound whose header was read. One thread at a time; the bytes outlive it.
class OpenSound {
 public:
  virtual ~OpenSound() = default;
  virtual const SoundInfo& info() const = 0;
  // Writes `count` frames from `begin` on, channels side by side. `dtype` is float32, or int16 or
  // int32 where info().is_integer. Full intensity is 1, or a power of two just above the type's
  // largest number. Reading backwards begins at the front again. Throws SampleError where the data
  // is damaged or ends. Requires: the frames are among those of info().
  virtual void read(int64_t begin, int64_t count, DType dtype, void* out) = 0;
};

// The sound formats of one library, in one file <name>_codec.cc here, which ends in
// STOKER_SOUND_CODEC. The build finds it. Without state; thread-safe.
class SoundCodec {
 public:
  virtual ~SoundCodec() = default;
  // Decides by the first bytes only.
  virtual bool recognises(EncodedSpan bytes) const = 0;
  // Reads the header. Throws SampleError.
  virtual std::unique_ptr<OpenSound> open(EncodedSpan bytes) const = 0;
};

template <>
std::span<const Known<SoundCodec>> known_codecs<SoundCodec>();

// Chooses the codec by content, never by name, and reads the header. Throws SampleError, which says
// what the bytes are and what is supported if there is no codec.
std::unique_ptr<OpenSound> open_sound(EncodedSpan bytes);

}  // namespace stoker

#define STOKER_SOUND_CODEC(Codec) STOKER_CODEC_OF(stoker::SoundCodec, Codec)
