// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed bytes become plain ones. This is what every compression offers.
#pragma once
#include "codec/codec.h"

namespace stoker {

enum class Compression : uint8_t { kLz4, kZstd, kZlib, kGzip, kDeflate };

// The compressions of one library, in one file <name>_codec.cc here, which ends in
// STOKER_INFLATER. The build finds it. Without state; thread-safe.
class Inflater {
 public:
  virtual ~Inflater() = default;
  // Writes what the bytes hold and returns how many bytes that is, or one more than fits where
  // there is more. What a library takes by itself is charged to `scratch` before. Throws
  // SampleError where the bytes are damaged or end too soon, and what `scratch` throws.
  virtual size_t inflate(Compression kind, EncodedSpan bytes, std::span<uint8_t> out,
                         Arena& scratch) const = 0;
};

template <>
std::span<const Known<Inflater>> known_codecs<Inflater>();

// "LZ4", as it is called in the tables of codecs.
const char* name_of(Compression kind);

// The inflater of a compression. Throws SampleError, which names the missing package, where this
// was built without it. Thread-safe.
const Inflater& inflater_of(Compression kind);

}  // namespace stoker

#define STOKER_INFLATER(Codec) STOKER_CODEC_OF(stoker::Inflater, Codec)
