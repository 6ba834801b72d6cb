// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a PNG file, and all that they say before the first pixel.
//
//   89 "PNG" 0D 0A 1A 0A | chunks (codec/chunks.h): "IHDR" | ... | "IDAT" | "IDAT" | ... | "IEND"
//   "IHDR":  width:4 height:4 depth:1 colour:1 compression:1 filter:1 interlacing:1
//   "PLTE":  red green blue, for each entry       "tRNS":  alpha, or the transparent colour
#pragma once
#include <optional>
#include <string_view>

#include "codec/chunks.h"
#include "codec/codec.h"

namespace stoker {

struct PngChunk : Chunk {
  bool is_possible = false;  // its length and type are some that a chunk may have; else not whole

  bool has_right_sum() const;  // Requires: is_whole
};

// The chunk at `at`; none if the file ends before its data begins.
std::optional<PngChunk> png_chunk_at(EncodedSpan file, size_t at);

// Checked: width and height are 1 or more, depth and colour fit.
struct PngHeader {
  int64_t width = 0, height = 0;
  int depth = 0;  // bits of a sample, or of an index
  bool has_palette = false, has_color = false, has_alpha = false;
  bool is_interlaced = false;
  EncodedSpan palette;  // RGB, at most 256 entries
  EncodedSpan transparency;  // alpha of the palette's entries, or the transparent colour; or empty
  size_t data_at = 0;  // the first IDAT chunk
  int orientation = 1;

  // Of a pixel in the file, where an index is one sample.
  int samples() const { return has_palette ? 1 : (has_color ? 3 : 1) + has_alpha; }
  // Of a decoded pixel, where transparency is alpha.
  int channels() const {
    return (has_color || has_palette ? 3 : 1) + (has_alpha || !transparency.empty());
  }
};

bool is_png(EncodedSpan file);

// Note [Checksums of PNG]
// As by libpng's defaults: a wrong checksum of a chunk that pixels depend on (IHDR, PLTE, IDAT) is
// damage, and any other chunk with one is ignored. Unlike libpng's, the checksum of an IDAT chunk
// is checked before its data is used, so that no damaged pixel is ever delivered. A chunk that the
// file's end cuts off has none, so its data is used only where damage is tolerated.

// Throws SampleError where the header is damaged or not one of a PNG file.
PngHeader read_png_header(EncodedSpan file);

}  // namespace stoker
