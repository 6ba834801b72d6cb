// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg2000/header.h"

#include <optional>
#include <string_view>

namespace stoker::jpeg2000 {
namespace {

using std::string_view_literals::operator""sv;

Component depth_of(uint32_t byte, size_t at) {
  Component c;
  c.bits = static_cast<int>(byte & 0x7F) + 1;
  c.is_signed = (byte & 0x80) != 0;
  if (c.bits > 38) fail_header("its samples have " + std::to_string(c.bits) + " bits", at);
  if (c.bits > 16) refuse("of " + std::to_string(c.bits) + " bits");
  return c;
}

// The beginning of a code stream, up to its first segment, which holds sizes.
void read_size(Bytes b, Header& h) {
  if (b.number(4) != 0xFF4FFF51) fail_header("expected the marker FF4F, then FF51", b.at() - 4);
  b.number(4);  // the segment's length and capabilities
  const size_t at = b.at();
  std::array<int64_t, 8> v;
  for (int64_t& n : v) n = b.number(4);
  h.x1 = v[0], h.y1 = v[1], h.x0 = v[2], h.y0 = v[3];
  h.tile_width = v[4], h.tile_height = v[5], h.tile_x0 = v[6], h.tile_y0 = v[7];
  if (h.x0 >= h.x1 || h.y0 >= h.y1 || h.x1 > INT32_MAX || h.y1 > INT32_MAX)
    fail_header("the picture goes from " + std::to_string(h.x0) + ", " + std::to_string(h.y0) +
                    " to " + std::to_string(h.x1) + ", " + std::to_string(h.y1),
                at);
  if (h.tile_x0 > h.x0 || h.tile_y0 > h.y0 || h.tile_x0 + h.tile_width <= h.x0 ||
      h.tile_y0 + h.tile_height <= h.y0)
    fail_header("its first tile does not lie on the picture", at);
  if (h.tiles() > 65535) fail_header("it has " + std::to_string(h.tiles()) + " tiles", at);
  h.components = b.number(2);
  if (h.components < 1) fail_header("it has no components", b.at() - 2);
  if (h.components > kMostChannels) refuse("of " + std::to_string(h.components) + " components");
  for (size_t i = 0; i < h.components; ++i) {
    h.component[i] = depth_of(b.number(1), b.at());
    h.component[i].dx = b.number(1);
    h.component[i].dy = b.number(1);
    if (h.component[i].dx < 1 || h.component[i].dy < 1)
      fail_header("a component has no samples", b.at() - 2);
  }
}

// What the boxes of a JP2 file say.
struct Boxes {
  std::optional<Colour> colour;
  std::optional<Bytes> palette, map, meaning;
};

struct Box {
  std::string_view type;
  Bytes data;
};

Box take_box(EncodedSpan file, Bytes& b) {
  uint64_t size = b.number(4), head = 8;
  const std::string_view type(reinterpret_cast<const char*>(file.data() + b.at()),
                              std::min<size_t>(b.left(), 4));
  b.number(4);
  if (size == 1) {
    size = b.take(8);
    head = 16;
  }
  if (size == 0) size = head + b.left();  // the last box may not say
  if (size < head) fail_header("a box is smaller than its head", b.at());
  return {type, b.part(size - head)};
}

// Colours are as many channels as they are, where the file gives a profile or none.
Colour colour_of(Bytes b) {
  const uint32_t method = b.number(1);
  b.number(2);
  if (method != 1) return Colour::kPlain;
  switch (const uint32_t space = b.number(4)) {
    case 0: return Colour::kPlain;  // OpenJPEG's own mark of colours that it was not told
    case 12: return Colour::kCmyk;
    case 16:  // sRGB
    case 17: return Colour::kPlain;  // gray
    case 18: return Colour::kYcc;
    default: refuse("of the colour space " + std::to_string(space));
  }
}

void read_jp2_header(EncodedSpan file, Bytes b, Boxes& boxes) {
  while (b.left() > 0) {
    const Box box = take_box(file, b);
    if (box.type == "colr"sv && !boxes.colour) boxes.colour = colour_of(box.data);
    if (box.type == "pclr"sv) boxes.palette = box.data;
    if (box.type == "cmap"sv) boxes.map = box.data;
    if (box.type == "cdef"sv) boxes.meaning = box.data;
  }
}

void read_palette(EncodedSpan file, const Boxes& boxes, Header& h) {
  Bytes b = *boxes.palette;
  h.entries = b.number(2);
  h.columns = b.number(1);
  if (h.entries < 1 || h.entries > 1024 || h.columns < 1)
    fail_header("its palette has " + std::to_string(h.entries) + " entries", b.at() - 3);
  for (size_t i = 0; i < h.columns; ++i) {
    h.column[i] = depth_of(b.number(1), b.at());
    h.entry_size += h.column[i].bits > 8 ? 2 : 1;
  }
  if (b.left() < h.entries * h.entry_size) fail_header("its palette ends prematurely", b.at());
  h.palette = file.subspan(b.at(), h.entries * h.entry_size);
  if (!boxes.map) fail_header("its palette has no map", b.at());
  Bytes map = *boxes.map;
  for (h.channels = 0; map.left() > 0; ++h.channels) {
    if (h.channels == kMostChannels) refuse("of more than 4 channels");
    Channel& c = h.channel[h.channels];
    c.component = map.number(2);
    const bool is_mapped = map.number(1) == 1;
    const uint32_t column = map.number(1);
    if (c.component >= h.components || (is_mapped && column >= h.columns))
      fail_header("its palette's map names what is not there", map.at() - 4);
    c.column = is_mapped ? static_cast<int>(column) : -1;
  }
  if (h.channels == 0) fail_header("its palette has an empty map", map.at());
}

// Sorts the channels: the colours in their order, then all others as they are stored.
void sort_channels(Bytes b, Header& h) {
  std::array<size_t, kMostChannels> place;
  place.fill(kMostChannels);
  for (size_t n = b.number(2); n > 0; --n) {
    const size_t channel = b.number(2), type = b.number(2), colour = b.number(2);
    if (channel >= h.channels) fail_header("it defines a channel that is not there", b.at() - 6);
    if (type == 0 && colour >= 1 && colour <= h.channels) place[channel] = colour - 1;
  }
  const std::array<Channel, kMostChannels> stored = h.channel;
  size_t sorted = 0;
  for (size_t p = 0; p <= kMostChannels; ++p)
    for (size_t i = 0; i < h.channels; ++i)
      if (place[i] == p) h.channel[sorted++] = stored[i];
}

}  // namespace

bool is_code_stream(EncodedSpan b) {
  return b.size() >= 4 && b[0] == 0xFF && b[1] == 0x4F && b[2] == 0xFF && b[3] == 0x51;
}

Header read_header(EncodedSpan file) {
  Header h;
  Boxes boxes;
  Bytes b(file, 0, file.size());
  if (!is_code_stream(file)) {
    while (true) {
      const Box box = take_box(file, b);
      if (box.type == "jp2h"sv) read_jp2_header(file, box.data, boxes);
      if (box.type != "jp2c"sv) continue;
      b = box.data;
      break;
    }
  }
  h.stream_at = b.at();
  h.stream = file.subspan(b.at(), b.left());
  read_size(b, h);
  h.channels = h.components;
  for (size_t i = 0; i < h.channels; ++i) h.channel[i].component = i;
  if (boxes.palette) read_palette(file, boxes, h);
  if (boxes.meaning) sort_channels(*boxes.meaning, h);
  if (boxes.colour) h.colour = *boxes.colour;
  // A bare code stream says nothing of colours. Only chroma has fewer samples.
  if (!boxes.colour && h.components == 3 && h.component[0].dx == 1 && h.component[1].dx > 1)
    h.colour = Colour::kYcc;
  if (h.colour == Colour::kYcc && h.channels < 3) h.colour = Colour::kPlain;
  if (h.colour == Colour::kCmyk && (h.channels != 4 || h.dtype() != DType::kUint8))
    refuse("of CMYK with " + std::to_string(h.channels) + " channels or more than 8 bits");
  return h;
}

}  // namespace stoker::jpeg2000
