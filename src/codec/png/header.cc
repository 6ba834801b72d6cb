// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/png/header.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "codec/exif.h"

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1A\n"sv;
constexpr uint32_t kLongest = 0x7FFFFFFF;  // chunk, width and height

std::string_view text_of(EncodedSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void fail(const std::string& what, size_t at) {
  throw SampleError("PNG header is damaged: " + what, static_cast<int64_t>(at));
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_ancillary(std::string_view type) { return (type[0] & 0x20) != 0; }

void read_ihdr(const PngChunk& c, PngHeader& h) {
  if (c.type != "IHDR" || c.data.size() != 13)
    fail("it does not begin with an IHDR chunk of 13 bytes", c.at);
  ForeignBytes b(c.data, ByteOrder::kBig);
  const uint32_t width = b.u32(), height = b.u32();
  if (width - 1 >= kLongest || height - 1 >= kLongest)
    fail("it claims " + std::to_string(width) + " x " + std::to_string(height) + " pixels", c.at);
  h.width = width;
  h.height = height;
  h.depth = b.u8();
  const int color = b.u8(), compression = b.u8(), filter = b.u8(), interlacing = b.u8();
  h.has_palette = color == 3;
  h.has_color = color == 2 || color == 6;
  h.has_alpha = color == 4 || color == 6;
  const int depths = color == 0 ? 1 | 2 | 4 | 8 | 16 : color == 3 ? 1 | 2 | 4 | 8 : 8 | 16;
  const bool is_power = (h.depth & (h.depth - 1)) == 0;
  if (color == 1 || color == 5 || color > 6 || !is_power || !(h.depth & depths))
    fail("there is no colour type " + std::to_string(color) + " of " + std::to_string(h.depth) +
             " bits",
         c.at + 16);
  if (compression != 0 || filter != 0 || interlacing > 1)
    fail("its methods of compression, filtering and interlacing are " +
             std::to_string(compression) + ", " + std::to_string(filter) + " and " +
             std::to_string(interlacing),
         c.at + 18);
  h.is_interlaced = interlacing == 1;
}

void read_palette(const PngChunk& c, PngHeader& h) {
  if (!h.has_palette) return;  // a suggestion for screens of few colours
  const size_t entries = c.data.size() / 3;
  if (!h.palette.empty()) fail("it has two palettes", c.at);
  if (c.data.size() % 3 != 0 || entries == 0 || entries > 256)
    fail("its palette has " + std::to_string(c.data.size()) + " bytes", c.at);
  h.palette = c.data.first(3 * std::min(entries, size_t{1} << h.depth));
}

// A chunk of a wrong size or in a wrong place is ignored.
void read_transparency(const PngChunk& c, PngHeader& h) {
  if (h.has_alpha || !h.transparency.empty() || c.data.empty()) return;
  const bool fits = h.has_palette ? c.data.size() <= h.palette.size() / 3
                                  : c.data.size() == (h.has_color ? 6u : 2u);
  if (fits) h.transparency = c.data;
}

// XMP stands in a text that is not compressed.
void read_text(EncodedSpan data, Exif& exif) {
  constexpr std::string_view kXmp = "XML:com.adobe.xmp\0\0\0"sv;
  std::string_view text = text_of(data);
  if (!text.starts_with(kXmp)) return;
  text.remove_prefix(kXmp.size());
  for (int i = 0; i < 2; ++i) {  // the language, and the key in that language
    const size_t end = text.find('\0');
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
  exif.add_xmp(text);
}

// What a stream of zlib holds, if it is not longer than `most`; else nothing.
std::string inflated(EncodedSpan stream, size_t most) {
  std::string text(most, '\0');
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_ZLIB;
  state->next_in = const_cast<uint8_t*>(stream.data());
  state->avail_in = static_cast<uint32_t>(stream.size());
  state->next_out = reinterpret_cast<uint8_t*>(text.data());
  state->avail_out = static_cast<uint32_t>(most);
  if (isal_inflate(state.get()) != ISAL_DECOMP_OK || state->block_state != ISAL_BLOCK_FINISH)
    return {};
  text.resize(state->total_out);
  return text;
}

// The bytes of a profile as ImageMagick writes it as text: three lines, the last of which is the
// size, and then lines of hexadecimal digits. Empty if it is anything else.
std::vector<uint8_t> profile_of(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const size_t end = text.find('\n');
    if (end == text.npos) return {};
    text.remove_prefix(end + 1);
  }
  std::vector<uint8_t> bytes;
  int digits = 0, value = 0;
  for (const char c : text) {
    const bool is_number = c >= '0' && c <= '9';
    const char small = static_cast<char>(c | 0x20);
    if (c == '\n' || c == ' ' || c == '\r') continue;
    if (!is_number && (small < 'a' || small > 'f')) return {};
    value = value << 4 | (is_number ? c - '0' : small - 'a' + 10);
    if (++digits % 2 == 0) bytes.push_back(static_cast<uint8_t>(value));
  }
  return bytes;
}

// What tells how to turn the picture. It may also stand behind the pixels.
class Metadata {
 public:
  // Requires: the chunk is whole.
  void read(const PngChunk& c) {
    if (c.type == "eXIf" && !has_exif_ && c.has_right_sum()) {
      exif_.add_tiff(c.data);
      has_exif_ = true;
    }
    if (c.type == "iTXt" && c.has_right_sum()) read_text(c.data, exif_);
    if (is_profile(c) && c.has_right_sum()) profile_ = c;
  }

  // Without a chunk of EXIF, the last old text with EXIF counts.
  int orientation() {
    if (!has_exif_ && !profile_.data.empty()) {
      bytes_ = profile_of(profile_text());
      if (!bytes_.empty()) exif_.add_tiff(bytes_);
    }
    return exif_.orientation();
  }

 private:
  static constexpr std::string_view kProfile = "Raw profile type exif\0"sv;
  static constexpr size_t kLongestProfile = 256 << 10;

  static bool is_profile(const PngChunk& c) {
    return (c.type == "tEXt" || c.type == "zTXt") && text_of(c.data).starts_with(kProfile);
  }
  std::string profile_text() const {
    const EncodedSpan data = profile_.data.subspan(kProfile.size());
    if (profile_.type == "tEXt")
      return std::string(text_of(data.first(std::min(data.size(), kLongestProfile))));
    return data.empty() || data[0] != 0 ? "" : inflated(data.subspan(1), kLongestProfile);
  }

  Exif exif_;
  bool has_exif_ = false;
  PngChunk profile_;
  std::vector<uint8_t> bytes_;  // of the profile
};

PngChunk header_chunk_at(EncodedSpan file, size_t at) {
  const std::optional<PngChunk> c = png_chunk_at(file, at);
  if (c && !c->is_possible) fail("there is no chunk where one should begin", at);
  if (!c || (!c->is_whole && c->type != "IDAT")) fail("it ends too early", file.size());
  return *c;
}

void check_sum(const PngChunk& c) {
  if (!c.has_right_sum())
    fail("the checksum of its chunk " + std::string(c.type) + " is wrong", c.at);
}

void read_chunk(const PngChunk& c, PngHeader& h) {
  if (c.type == "tRNS" && c.has_right_sum()) return read_transparency(c, h);
  if (is_ancillary(c.type)) return;
  check_sum(c);
  if (c.type != "PLTE")
    fail("nothing is known of its chunk " + std::string(c.type) + ", which pixels depend on", c.at);
  read_palette(c, h);
}

}  // namespace

bool PngChunk::has_right_sum() const {
  const EncodedSpan summed{data.data() - 4, data.size() + 4}, all{summed.data(), summed.size() + 4};
  return crc32_gzip_refl(0, summed.data(), summed.size()) ==
         number_at<uint32_t>(all, summed.size(), ByteOrder::kBig);
}

std::optional<PngChunk> png_chunk_at(EncodedSpan file, size_t at) {
  Chunk c;
  if (!Chunks(file, at, kPngShape).next(c)) return std::nullopt;
  const bool is_possible =
      c.size <= kLongest && std::all_of(c.type.begin(), c.type.end(), is_letter);
  return PngChunk{{c.at, c.type, c.data, c.end, c.size, c.is_whole && is_possible}, is_possible};
}

bool is_png(EncodedSpan file) { return text_of(file).starts_with(kSignature); }

PngHeader read_png_header(EncodedSpan file) {
  PngHeader h;
  PngChunk c = header_chunk_at(file, kSignature.size());
  read_ihdr(c, h);
  check_sum(c);
  Metadata metadata;
  for (c = header_chunk_at(file, c.end); c.type != "IDAT"; c = header_chunk_at(file, c.end)) {
    read_chunk(c, h);
    metadata.read(c);
  }
  h.data_at = c.at;
  if (h.has_palette && h.palette.empty()) fail("it has no palette", c.at);
  // What is damaged behind is no matter of the header.
  while (c.is_whole && c.type != "IEND") {
    const std::optional<PngChunk> next = png_chunk_at(file, c.end);
    if (!next) break;
    c = *next;
    if (c.is_whole) metadata.read(c);
  }
  h.orientation = metadata.orientation();
  return h;
}

}  // namespace stoker
