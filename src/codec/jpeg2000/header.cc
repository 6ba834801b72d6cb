// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg2000/header.h"

#include <optional>

#include "codec/boxes.h"

namespace stoker::jpeg2000 {
namespace {

Component take_depth(ForeignBytes& b) {
  const size_t at = b.at();
  const int byte = b.u8();
  Component c;
  c.bits = (byte & 0x7F) + 1;
  c.is_signed = (byte & 0x80) != 0;
  if (c.bits > 38) b.fail("its samples have " + std::to_string(c.bits) + " bits", at);
  if (c.bits > 16) refuse("of " + std::to_string(c.bits) + " bits");
  return c;
}

// The beginning of a code stream, up to its first segment, which holds sizes.
void read_size(ForeignBytes b, Header& h) {
  if (b.u32() != 0xFF4FFF51) b.fail("expected the marker FF4F, then FF51", b.at() - 4);
  b.skip(4);  // the segment's length and capabilities
  const size_t at = b.at();
  std::array<int64_t, 8> v;
  for (int64_t& n : v) n = b.u32();
  h.x1 = v[0], h.y1 = v[1], h.x0 = v[2], h.y0 = v[3];
  h.tile_width = v[4], h.tile_height = v[5], h.tile_x0 = v[6], h.tile_y0 = v[7];
  if (h.x0 >= h.x1 || h.y0 >= h.y1 || h.x1 > INT32_MAX || h.y1 > INT32_MAX)
    b.fail("the picture goes from " + std::to_string(h.x0) + ", " + std::to_string(h.y0) + " to " +
               std::to_string(h.x1) + ", " + std::to_string(h.y1),
           at);
  if (h.tile_x0 > h.x0 || h.tile_y0 > h.y0 || h.tile_x0 + h.tile_width <= h.x0 ||
      h.tile_y0 + h.tile_height <= h.y0)
    b.fail("its first tile does not lie on the picture", at);
  if (h.tiles() > 65535) b.fail("it has " + std::to_string(h.tiles()) + " tiles", at);
  h.components = b.u16();
  if (h.components < 1) b.fail("it has no components", b.at() - 2);
  if (h.components > kMostChannels) refuse("of " + std::to_string(h.components) + " components");
  for (size_t i = 0; i < h.components; ++i) {
    h.component[i] = take_depth(b);
    h.component[i].dx = b.u8();
    h.component[i].dy = b.u8();
    if (h.component[i].dx < 1 || h.component[i].dy < 1)
      b.fail("a component has no samples", b.at() - 2);
  }
}

// What the boxes of a JP2 file say.
struct BoxContents {
  std::optional<Colour> colour;
  std::optional<ForeignBytes> palette, map, meaning;
};

// The channels are taken for plain colours where the file gives a profile, or nothing.
Colour colour_of(ForeignBytes b) {
  const int method = b.u8();
  b.skip(2);
  if (method != 1) return Colour::kPlain;
  switch (const uint32_t space = b.u32()) {
    case 0: return Colour::kPlain;  // OpenJPEG's own mark of colours that it was not told
    case 12: return Colour::kCmyk;
    case 16:  // sRGB
    case 17: return Colour::kPlain;  // gray
    case 18: return Colour::kYcc;
    default: refuse("of the colour space " + std::to_string(space));
  }
}

void read_jp2_header(ForeignBytes b, BoxContents& contents) {
  Boxes boxes(b);
  for (Box box; boxes.next(box);) {
    if (box.type == "colr" && !contents.colour) contents.colour = colour_of(box.data);
    if (box.type == "pclr") contents.palette = box.data;
    if (box.type == "cmap") contents.map = box.data;
    if (box.type == "cdef") contents.meaning = box.data;
  }
  boxes.require_end();
}

// The code stream in the boxes of a file. Puts into `contents` what the header says.
ForeignBytes find_code_stream(ForeignBytes file, BoxContents& contents) {
  Boxes boxes(file);
  for (Box box; boxes.next(box);) {
    if (box.type == "jp2h") read_jp2_header(box.data, contents);
    if (box.type == "jp2c") return box.data;
  }
  boxes.require_end();
  return file.from(file.end());
}

void read_palette(const BoxContents& contents, Header& h) {
  ForeignBytes b = *contents.palette;
  h.entries = b.u16();
  h.columns = b.u8();
  if (h.entries < 1 || h.entries > 1024 || h.columns < 1)
    b.fail("its palette has " + std::to_string(h.entries) + " entries", b.at() - 3);
  for (size_t i = 0; i < h.columns; ++i) {
    h.column[i] = take_depth(b);
    h.entry_size += h.column[i].bits > 8 ? 2 : 1;
  }
  if (!b.has(h.entries * h.entry_size)) b.fail("its palette ends prematurely");
  if (!contents.map) b.fail("its palette has no map");
  h.palette = b.bytes(h.entries * h.entry_size);
  ForeignBytes map = *contents.map;
  for (h.channels = 0; map.left() > 0; ++h.channels) {
    if (h.channels == kMostChannels) refuse("of more than 4 channels");
    Channel& c = h.channel[h.channels];
    c.component = map.u16();
    const bool is_mapped = map.u8() == 1;
    const size_t column = map.u8();
    if (c.component >= h.components || (is_mapped && column >= h.columns))
      map.fail("its palette's map names what is not there", map.at() - 4);
    c.column = is_mapped ? static_cast<int>(column) : -1;
  }
  if (h.channels == 0) map.fail("its palette has an empty map");
}

// Sorts the channels: the colours in their order, then all others as they are stored.
void sort_channels(ForeignBytes b, Header& h) {
  std::array<size_t, kMostChannels> place;
  place.fill(kMostChannels);
  for (size_t n = b.u16(); n > 0; --n) {
    const size_t channel = b.u16(), type = b.u16(), colour = b.u16();
    if (channel >= h.channels) b.fail("it defines a channel that is not there", b.at() - 6);
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
  BoxContents contents;
  ForeignBytes b = foreign(file);
  if (!is_code_stream(file)) b = find_code_stream(b, contents);
  h.stream_at = b.at();
  h.stream = b.rest();
  read_size(b, h);
  h.channels = h.components;
  for (size_t i = 0; i < h.channels; ++i) h.channel[i].component = i;
  if (contents.palette) read_palette(contents, h);
  if (contents.meaning) sort_channels(*contents.meaning, h);
  if (contents.colour) h.colour = *contents.colour;
  // A bare code stream says nothing of colours. Only chroma has fewer samples.
  if (!contents.colour && h.components == 3 && h.component[0].dx == 1 && h.component[1].dx > 1)
    h.colour = Colour::kYcc;
  if (h.colour == Colour::kYcc && h.channels < 3) h.colour = Colour::kPlain;
  if (h.colour == Colour::kCmyk && (h.channels != 4 || h.dtype() != DType::kUint8))
    refuse("of CMYK with " + std::to_string(h.channels) + " channels or more than 8 bits");
  return h;
}

}  // namespace stoker::jpeg2000
