// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The headers of JPEG 2000: the boxes of JP2 and the first segment of a code stream.
//
//   a file:         boxes (codec/boxes.h): "jP  " | "ftyp" | "jp2h" | ... | "jp2c": a code stream
//   "jp2h":         boxes: "ihdr", "colr", and perhaps "pclr", a palette, "cmap", what its columns
//                   are for, and "cdef", what the channels mean
//   a code stream:  FF4F | FF51 size:2, the picture and its tiles | FF.. size:2 data | ... | parts
//   of tiles | FFD9
//   a tile's part:  FF90 10:2 tile:2 size:4 part:1 parts:1 | FF.. size:2 data | ... | FF93 | data
#pragma once
#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "base/foreign_bytes.h"
#include "codec/codec.h"

namespace stoker::jpeg2000 {

inline constexpr size_t kMostChannels = 4;

inline constexpr ForeignBytes::Words kWords = {"JPEG 2000 header is damaged",
                                               "JPEG 2000 header is damaged: it ends prematurely"};
inline ForeignBytes foreign(EncodedSpan file) { return {file, ByteOrder::kBig, kWords}; }

[[noreturn]] inline void refuse(const std::string& what) {
  throw SampleError("JPEG 2000 " + what + " is not supported");
}

struct Component {
  int bits = 0;
  bool is_signed = false;
  uint32_t dx = 1, dy = 1;  // of the grid, between samples

  int32_t most() const { return static_cast<int32_t>((int64_t{1} << bits) - 1); }
  int32_t middle() const { return is_signed ? 1 << (bits - 1) : 0; }  // what is added to a sample
};

// Where a channel of the picture comes from.
struct Channel {
  size_t component = 0;
  int column = -1;  // of the palette; -1: the samples themselves
};

enum class Colour { kPlain, kYcc, kCmyk };

struct Header {
  EncodedSpan stream;  // without what is around it
  size_t stream_at = 0;  // of the file
  int64_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // the picture on the grid
  int64_t tile_width = 0, tile_height = 0, tile_x0 = 0, tile_y0 = 0;
  size_t components = 0, channels = 0;
  std::array<Component, kMostChannels> component{};
  std::array<Channel, kMostChannels> channel{};
  Colour colour = Colour::kPlain;
  EncodedSpan palette;  // its entries
  std::array<Component, 256> column{};  // of the palette
  size_t columns = 0, entries = 0, entry_size = 0;

  int64_t width() const { return x1 - x0; }
  int64_t height() const { return y1 - y0; }
  int64_t tiles() const {
    return ((x1 - tile_x0 + tile_width - 1) / tile_width) *
           ((y1 - tile_y0 + tile_height - 1) / tile_height);
  }
  const Component& samples_of(const Channel& c) const {
    return c.column < 0 ? component[c.component] : column[static_cast<size_t>(c.column)];
  }
  DType dtype() const {
    int most = 0;
    for (size_t c = 0; c < channels; ++c) most = std::max(most, samples_of(channel[c]).bits);
    return most > 8 ? DType::kUint16 : DType::kUint8;
  }
};

// Whether a code stream begins here, without a file around it.
bool is_code_stream(EncodedSpan b);
Header read_header(EncodedSpan file);

}  // namespace stoker::jpeg2000
