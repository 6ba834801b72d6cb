// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The headers of JPEG 2000: the boxes of JP2 and the first segment of a code stream. Pure
// functions; thread-safe.
#pragma once
#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "codec/codec.h"

namespace stoker::jpeg2000 {

inline constexpr size_t kMostChannels = 4;

[[noreturn]] inline void fail_header(const std::string& what, size_t at) {
  throw SampleError("JPEG 2000 header is damaged: " + what, static_cast<int64_t>(at));
}
[[noreturn]] inline void refuse(const std::string& what) {
  throw SampleError("JPEG 2000 " + what + " is not supported");
}

// Big-endian numbers of a file, or of a part that ends before it.
class Bytes {
 public:
  Bytes(EncodedSpan file, size_t begin, size_t end) : file_(file), at_(begin), end_(end) {}

  size_t at() const { return at_; }
  size_t left() const { return end_ - at_; }
  uint64_t take(size_t size) {
    if (left() < size) fail_header("it ends prematurely", end_);
    uint64_t v = 0;
    for (size_t i = 0; i < size; ++i) v = v << 8 | file_[at_++];
    return v;
  }
  uint32_t number(size_t size) { return static_cast<uint32_t>(take(size)); }
  // The next bytes, which are thereby taken; fewer at the end.
  Bytes part(uint64_t size) {
    const size_t begin = at_;
    at_ += static_cast<size_t>(std::min<uint64_t>(size, left()));
    return {file_, begin, at_};
  }

 private:
  EncodedSpan file_;
  size_t at_, end_;
};

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
// Throws SampleError.
Header read_header(EncodedSpan file);

}  // namespace stoker::jpeg2000
