// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compressed bytes become plain ones. This is what every compression offers.
#pragma once
#include <functional>
#include <memory>

#include "codec/codec.h"

namespace stoker {

enum class Compression : uint8_t { kLz4, kZstd, kZlib, kGzip, kDeflate };

// Compressed data that is read piece by piece.
class InflatingStream {
 public:
  virtual ~InflatingStream() = default;
  // Fills `out` with the next bytes and returns how many there are: fewer only at the end, or
  // before damage. Where the data is damaged, the bytes before it are given first, and the next
  // call throws SampleError with the offset in the compressed data.
  virtual size_t read(std::span<uint8_t> out) = 0;
};

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
  // Gives the next compressed bytes; none: the data ends. They stay valid until the next call.
  using More = std::function<EncodedSpan()>;
  // Reads a stream that need not lie in memory. Throws Error where the library does not know how.
  virtual std::unique_ptr<InflatingStream> stream(Compression kind, const More& more) const;
};

template <>
std::span<const Known<Inflater>> known_codecs<Inflater>();

// "LZ4", as it is called in the tables of codecs.
const char* name_of(Compression kind);

// Throws SampleError, which names the missing package, where this was built without the inflater.
const Inflater& inflater_of(Compression kind);

}  // namespace stoker

#define STOKER_INFLATER(Codec) STOKER_CODEC_OF(stoker::Inflater, Codec)
