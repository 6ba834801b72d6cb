// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/sound/data_chunk.h"

#include <string_view>

#include "codec/chunks.h"

namespace stoker {

// Note [Sizes that are not known]
// A WAV or AIFF is a row of chunks in one that holds all; an AU is a header, then samples:
//
//   "RIFF" size "WAVE" | "fmt " size ... | "data" size samples | more chunks
//   "FORM" size "AIFF" | "COMM" size ... | "SSND" size offset block samples | more chunks
//   "RF64" -1   "WAVE" | "ds64" size: both sizes as 64 bits | "fmt " ... | "data" -1 samples
//   ".snd" offset size ... samples
//
// A program that writes into a pipe cannot go back to fill in sizes. It leaves 0 or the largest
// number there, and the samples end where the file does. Any other number is a promise, and a file
// that has fewer bytes was cut off.

namespace {

// The largest numbers that programs write, some less the size of a header.
constexpr uint32_t kNoSize = 0x7FFFF000;

uint32_t number_of(EncodedSpan bytes, size_t at, ByteOrder order) {
  return ForeignBytes(bytes, order).from(at).u32();
}

Patch patch_of(size_t at, uint64_t number, ByteOrder order) {
  Patch p{.at = static_cast<int64_t>(at)};
  for (size_t i = 0; i < 4; ++i)
    p.bytes[i] = static_cast<uint8_t>(number >> (8 * (order == ByteOrder::kBig ? 3 - i : i)));
  return p;
}

bool are_zeros(EncodedSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

// Whether something that looks like a chunk, and fits, begins there.
bool is_chunk(EncodedSpan bytes, const ChunkShape& shape, size_t at) {
  Chunk c;
  return Chunks(bytes, at, shape).next(c) && c.is_whole &&
         std::all_of(c.type.begin(), c.type.end(), [](char t) { return t >= ' ' && t <= '~'; });
}

// Whether the chunk that ends at `end` may be followed by what is there. A chunk of an odd size
// should be padded, but not all are. What lies behind the outer chunk does not count.
bool may_end(EncodedSpan bytes, const ChunkShape& shape, size_t end) {
  const uint32_t claimed = number_of(bytes, 4, shape.order);
  const size_t all = claimed == 0 || claimed >= kNoSize
                         ? bytes.size()
                         : std::min<size_t>(bytes.size(), 8 + size_t{claimed});
  if (end + 8 > all) return true;
  const EncodedSpan rest = bytes.subspan(end, all - end);
  return is_chunk(bytes, shape, end) || is_chunk(bytes, shape, end + end % 2) || are_zeros(rest);
}

std::optional<DataChunk> find_in_chunks(EncodedSpan bytes, bool is_aiff, const ChunkShape& shape) {
  std::optional<uint64_t> large;  // of "ds64"
  Chunks chunks(bytes, 12, shape);
  for (Chunk c; chunks.next(c);) {
    ForeignBytes sizes = ForeignBytes(bytes, shape.order).from(c.at + 16);
    if (c.type == "ds64" && sizes.has(8)) large = sizes.u64();
    if (c.type != (is_aiff ? "SSND" : "data")) continue;
    const size_t head = is_aiff ? 8 : 0;  // counts as part of the chunk
    DataChunk found{.format = is_aiff ? "AIFF" : "WAV", .begin = c.at + 8 + head};
    if (found.begin > bytes.size()) return std::nullopt;
    const size_t rest = bytes.size() - found.begin;
    const bool is_empty = c.size <= head && rest > 0 && !is_chunk(bytes, shape, found.begin);
    if (c.size >= kNoSize && large && *large > 0) found.size = large;
    else if (c.size < kNoSize && !is_empty) found.size = c.size - std::min<size_t>(c.size, head);
    else found.patch = patch_of(c.at + 4, rest + head, shape.order);
    if (found.size && *found.size <= rest)
      found.is_amid_others = !may_end(bytes, shape, found.begin + *found.size);
    return found;
  }
  return std::nullopt;
}

std::optional<DataChunk> find_in_au(EncodedSpan bytes) {
  ForeignBytes b = ForeignBytes(bytes, ByteOrder::kBig).from(4);
  if (bytes.size() < 24) return std::nullopt;
  DataChunk found{.format = "AU", .begin = b.u32()};
  if (found.begin > bytes.size()) return std::nullopt;
  const size_t size_at = b.at(), rest = bytes.size() - found.begin;
  const uint32_t size = b.u32();
  if (size < kNoSize && (size > 0 || rest == 0)) {
    found.size = size;
    found.is_amid_others = size < rest && !are_zeros(bytes.subspan(found.begin + size));
  } else found.patch = patch_of(size_at, rest, ByteOrder::kBig);
  return found;
}

}  // namespace

std::optional<DataChunk> find_data_chunk(EncodedSpan bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (all.starts_with(".snd")) return find_in_au(bytes);
  const bool is_big = all.starts_with("FORM") || all.starts_with("RIFX");
  if (is_big || all.starts_with("RIFF") || all.starts_with("RF64"))
    return find_in_chunks(bytes, all.starts_with("FORM"), is_big ? kIffChunk : kRiffChunk);
  return std::nullopt;
}

}  // namespace stoker
