// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The chunks of RIFF (WAV, WebP), IFF (AIFF) and PNG files, each with a type and a size.
//
//   RIFF, IFF:  type:4 size:4 | data | a byte of padding, where the size is odd
//   PNG:        size:4 type:4 | data | checksum:4
//
// The size counts the data only, unlike that of the segments of JPEG and JPEG 2000 code streams.
#pragma once
#include "base/foreign_bytes.h"

namespace stoker {

struct ChunkShape {
  ByteOrder order;
  bool begins_with_size;
  uint8_t checksum;  // its bytes
  bool is_padded;
};
inline constexpr ChunkShape kRiffChunk{ByteOrder::kLittle, false, 0, true};
inline constexpr ChunkShape kIffChunk{ByteOrder::kBig, false, 0, true};
inline constexpr ChunkShape kPngShape{ByteOrder::kBig, true, 4, false};

struct Chunk {
  size_t at = 0;  // where it begins
  std::string_view type;  // of 4 bytes
  std::span<const uint8_t> data;  // less than `size` where the file ends before
  size_t end = 0;  // where the next one begins, which may be behind the file
  uint32_t size = 0;  // of the data, as the chunk says
  bool is_whole = false;  // with its checksum; padding may be missing
};

// Walks over chunks that lie one behind the other: for (Chunk c; chunks.next(c);)
class Chunks {
 public:
  Chunks(std::span<const uint8_t> file, size_t at, const ChunkShape& shape)
      : file_(file), at_(at), shape_(shape) {}

  // Sets the next chunk. False where the file ends before its data begins.
  bool next(Chunk& c) {
    constexpr size_t kHead = 8;
    ForeignBytes b = ForeignBytes(file_, shape_.order).from(at_);
    if (!b.has(kHead)) return false;
    c.at = at_;
    if (shape_.begins_with_size) c.size = b.u32();
    c.type = b.text(4);
    if (!shape_.begins_with_size) c.size = b.u32();
    const std::span<const uint8_t> rest = b.rest();
    c.data = rest.first(std::min<size_t>(c.size, rest.size()));
    c.is_whole = uint64_t{c.size} + shape_.checksum <= rest.size();
    c.end = at_ = b.at() + c.size + shape_.checksum + (shape_.is_padded ? c.size % 2 : 0);
    return true;
  }

 private:
  const std::span<const uint8_t> file_;
  size_t at_;
  const ChunkShape shape_;
};

}  // namespace stoker
