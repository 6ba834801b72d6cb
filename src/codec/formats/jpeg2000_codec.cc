// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of JPEG 2000, by libopenjp2 (libopenjp2-7-dev).
// Code streams, and JP2 files around them. What JP2 says of colours, palettes and alpha is read
// here: the library decodes the components of the code stream, and of a window only what it needs.
#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "codec/color.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kMostChannels = 4;
constexpr size_t kAtOnce = 1 << 16;  // bytes that the library reads at once
constexpr size_t kNowhere = SIZE_MAX / 2;

[[noreturn]] void fail_header(const std::string& what, size_t at) {
  throw SampleError("JPEG 2000 header is damaged: " + what, static_cast<int64_t>(at));
}
[[noreturn]] void refuse(const std::string& what) {
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

// What the library will take, by the code stream's headers.
class Needs {
 public:
  explicit Needs(const Header& h) : h_(h) { smallest_.fill(0xFF); }

  void add_coding(Bytes b) {
    const bool has_precincts = b.number(1) & 1;
    b.number(1);
    layers_ = std::max<double>(layers_, b.number(2));
    b.number(1);
    add_levels(b, has_precincts);
  }
  void add_coding_of_component(Bytes b) {
    b.number(1);
    const bool has_precincts = b.number(1) & 1;
    add_levels(b, has_precincts);
  }

  // To decode an area of so many rows and columns.
  size_t bytes(int64_t height, int64_t width) const {
    // The tables of each tile, and what was read of it; of one tile its precincts, code blocks and
    // packets.
    double n = 1 << 20;
    n += static_cast<double>(h_.tiles()) * (14000 + 1200 * components());
    n += 2 * static_cast<double>(h_.stream.size()) + static_cast<double>(kAtOnce);
    double most_precincts = 1;
    for (int r = 0; r <= levels_; ++r) {
      const double precincts =
          count(tile_width(r), precinct(r, 0)) * count(tile_height(r), precinct(r, 4));
      most_precincts = std::max(most_precincts, precincts);
      const int half = r > 0 ? 1 : 0;  // the width of a band is half of that of its resolution
      const double blocks =
          count(tile_width(r) / (1 << half), std::min(block_[0], precinct(r, 0) - half)) *
          count(tile_height(r) / (1 << half), std::min(block_[1], precinct(r, 4) - half));
      n += components() * (r > 0 ? 3 : 1) * (320 * precincts + 720 * blocks);
    }
    n += 2 * (layers_ + 1) * most_precincts * components() * (levels_ + 1);
    // Samples of the area, and of a tile: all of them, or the blocks that the area touches. A
    // single tile becomes the picture without a copy.
    const auto rows = static_cast<double>(height), columns = static_cast<double>(width);
    const double tile =
        std::min(rows, tile_height(levels_)) * std::min(columns, tile_width(levels_));
    double samples = rows * columns;
    if (height != h_.height() || width != h_.width()) {
      samples += 2 * tile;
      for (int r = 0; r <= levels_; ++r) {
        const double scale = static_cast<double>(int64_t{1} << (levels_ - r));
        samples += 2 * std::min(tile_height(r), rows / scale + 160) *
                   std::min(tile_width(r), columns / scale + 160);
      }
    } else if (h_.tiles() > 1) {
      samples += tile;
    }
    n += 4 * components() * samples + 64 * (rows + columns);
    return static_cast<size_t>(std::min(n, 1e18));
  }

 private:
  double components() const { return static_cast<double>(h_.components); }
  // The sides of a tile at a resolution.
  double tile_width(int r) const { return side(std::min(h_.tile_width, h_.width()), r); }
  double tile_height(int r) const { return side(std::min(h_.tile_height, h_.height()), r); }
  double side(int64_t whole, int r) const {
    return static_cast<double>((whole >> (levels_ - r)) + 1);
  }
  // How many precincts or blocks, whose side has an exponent, a side may touch.
  static double count(double side, int exponent) {
    return static_cast<double>(static_cast<int64_t>(side) >> std::max(exponent, 0)) + 2;
  }
  // The exponent of a precinct's side.
  int precinct(int r, int shift) const { return smallest_[static_cast<size_t>(r)] >> shift & 15; }

  void add_levels(Bytes b, bool has_precincts) {
    const auto levels = static_cast<int>(b.number(1));
    if (levels > 32) fail_header("it has " + std::to_string(levels) + " levels", b.at() - 1);
    levels_ = std::max(levels_, levels);
    for (int& exponent : block_) exponent = std::min(exponent, static_cast<int>(b.number(1)) + 2);
    b.number(2);
    for (int r = 0; has_precincts && r <= levels; ++r) {
      const uint32_t sides = b.number(1);
      uint8_t& smallest = smallest_[static_cast<size_t>(r)];
      smallest = static_cast<uint8_t>(std::min(smallest & 15u, sides & 15u) |
                                      std::min(smallest & 0xF0u, sides & 0xF0u));
    }
  }

  const Header& h_;
  double layers_ = 1;
  int levels_ = 0;
  std::array<int, 2> block_{6, 6};  // the exponents of a code block's sides
  std::array<uint8_t, 33> smallest_;  // of each resolution, the exponents of a precinct's sides
};

// Goes through the headers of a code stream, and over its data.
class Walk {
 public:
  Walk(EncodedSpan file, const Header& h, Needs& needs, Arena& scratch)
      : b_(file, h.stream_at + 2, h.stream_at + h.stream.size()),
        tiles_(h.tiles()),
        needs_(needs),
        has_tile_(scratch.array<uint8_t>(static_cast<size_t>(tiles_))) {
    std::memset(has_tile_, 0, static_cast<size_t>(tiles_));
    begin_ = h.stream_at;
    take_segments(kSot);
    sound_ = b_.at();
    while (take_tile_part()) {
    }
    if (what_.empty() && std::memchr(has_tile_, 0, static_cast<size_t>(tiles_)))
      what_ = "it lacks a tile";
  }

  // How much of the code stream may be decoded.
  size_t sound() const { return sound_ - begin_; }
  // What is wrong behind that; "" if nothing is.
  const std::string& what() const { return what_; }
  size_t at() const { return b_.at(); }
  // Where the code stream tells the length of a part that was cut, if there is one.
  size_t wrong_length() const { return wrong_length_; }

 private:
  static constexpr uint32_t kCod = 0xFF52, kCoc = 0xFF53, kSot = 0xFF90, kSod = 0xFF93,
                            kEoc = 0xFFD9;

  // Segments up to a marker, which is taken as well.
  void take_segments(uint32_t end) {
    while (true) {
      const uint32_t marker = b_.number(2);
      if (marker == end) return;
      if (marker < 0xFF00 || marker == kSot || marker == kSod || marker == kEoc)
        fail_header("expected a segment", b_.at() - 2);
      const uint32_t size = b_.number(2);
      if (size < 2 || size - 2 > b_.left()) fail_header("a segment is too long", b_.at() - 2);
      const Bytes data = b_.part(size - 2);
      if (marker == kCod) needs_.add_coding(data);
      if (marker == kCoc) needs_.add_coding_of_component(data);
    }
  }

  // Behind the marker SOT. False if it is the last one.
  bool take_tile_part() {
    if (b_.left() < 10) return stop("it ends prematurely");
    const size_t begin = b_.at() - 2;
    b_.number(2);
    const uint32_t tile = b_.number(2);
    const uint64_t size = b_.number(4);
    b_.number(2);
    if (tile >= tiles_) return stop("a tile's number is " + std::to_string(tile));
    try {
      take_segments(kSod);
    } catch (const SampleError&) {
      return stop("the header of a tile's part is damaged");
    }
    has_tile_[tile] = 1;
    const uint64_t head = b_.at() - begin;
    if (size != 0 && size < head) return stop("a tile's part is smaller than its header");
    const uint64_t data = size == 0 ? b_.left() : size - head;
    const bool is_cut = data > b_.left();
    b_.part(data);
    sound_ = b_.at();
    if (is_cut) {
      wrong_length_ = begin + 6 - begin_;
      return stop("it ends prematurely");
    }
    if (b_.left() < 2) return false;
    const uint32_t marker = b_.number(2);
    if (marker != kSot && marker != kEoc) return stop("expected the marker SOT or EOC");
    sound_ = b_.at();
    return marker == kSot;
  }
  bool stop(std::string what) {
    what_ = std::move(what);
    return false;
  }

  Bytes b_;
  int64_t tiles_;
  Needs& needs_;
  uint8_t* has_tile_;
  size_t begin_ = 0, sound_ = 0, wrong_length_ = kNowhere;
  std::string what_;
};

// The library's decoder of a code stream that is in memory.
class Decoder {
 public:
  // The length of 4 bytes at `wrong_length` is read as 0, which stands for all that is left: the
  // library takes as much memory as a length says.
  Decoder(EncodedSpan stream, bool is_strict, size_t wrong_length)
      : bytes_(stream), wrong_length_(wrong_length) {
    if (!codec_ || !stream_) throw_no_memory();
    opj_set_error_handler(codec_.get(), on_error, this);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_setup_decoder(codec_.get(), &parameters);
    opj_decoder_set_strict_mode(codec_.get(), is_strict);
    opj_codec_set_threads(codec_.get(), 0);
    opj_stream_set_read_function(stream_.get(), read);
    opj_stream_set_skip_function(stream_.get(), skip);
    opj_stream_set_seek_function(stream_.get(), seek);
    opj_stream_set_user_data(stream_.get(), this, nullptr);
    opj_stream_set_user_data_length(stream_.get(), stream.size());
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Decodes an area of the grid. Null if it is damaged.
  const opj_image_t* decode(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
    opj_image_t* image = nullptr;
    const bool is_read = opj_read_header(stream_.get(), codec_.get(), &image);
    image_.reset(image);
    if (!is_read) return nullptr;
    const bool is_good =
        opj_set_decode_area(codec_.get(), image, static_cast<int>(x0), static_cast<int>(y0),
                            static_cast<int>(x1), static_cast<int>(y1)) &&
        opj_decode(codec_.get(), stream_.get(), image);
    return is_good ? image : nullptr;
  }
  const std::string& message() const { return message_; }
  size_t at() const { return at_; }

 private:
  template <auto kFree>
  struct By {
    template <class T>
    void operator()(T* p) const {
      kFree(p);
    }
  };
  [[noreturn]] static void throw_no_memory() {
    throw BudgetError("the system has no memory left to decode a JPEG 2000 image");
  }
  static Decoder& self(void* decoder) { return *static_cast<Decoder*>(decoder); }
  static void on_error(const char* message, void* decoder) {
    std::string& all = self(decoder).message_;
    std::string_view line(message);
    while (line.ends_with('\n')) line.remove_suffix(1);
    if (all.empty()) all = line.substr(0, 160);
  }
  static size_t read(void* to, size_t size, void* decoder) {
    Decoder& d = self(decoder);
    const size_t n = std::min(size, d.bytes_.size() - d.at_);
    if (n == 0) return SIZE_MAX;
    std::memcpy(to, d.bytes_.data() + d.at_, n);
    for (size_t at = d.wrong_length_; at < d.wrong_length_ + 4; ++at)
      if (at >= d.at_ && at < d.at_ + n) static_cast<uint8_t*>(to)[at - d.at_] = 0;
    d.at_ += n;
    return n;
  }
  static int64_t skip(int64_t size, void* decoder) {
    Decoder& d = self(decoder);
    if (size < 0) return -1;
    const size_t n = std::min(static_cast<size_t>(size), d.bytes_.size() - d.at_);
    d.at_ += n;
    return static_cast<int64_t>(n);
  }
  static OPJ_BOOL seek(int64_t at, void* decoder) {
    Decoder& d = self(decoder);
    if (at < 0 || static_cast<size_t>(at) > d.bytes_.size()) return OPJ_FALSE;
    d.at_ = static_cast<size_t>(at);
    return OPJ_TRUE;
  }

  EncodedSpan bytes_;
  size_t wrong_length_;
  size_t at_ = 0;
  std::string message_;
  std::unique_ptr<opj_codec_t, By<opj_destroy_codec>> codec_{opj_create_decompress(OPJ_CODEC_J2K)};
  std::unique_ptr<opj_stream_t, By<opj_stream_destroy>> stream_{
      opj_stream_create(kAtOnce, OPJ_TRUE)};
  std::unique_ptr<opj_image_t, By<opj_image_destroy>> image_;
};

// R, G and B of full-range Y, Cb and Cr, in place, with the rounding of Pillow's conversion.
template <class T>
void make_rgb(T* row, int64_t step, int64_t pixels) {
  constexpr int kMost = std::numeric_limits<T>::max(), kHalf = kMost / 2 + 1;
  const auto scaled = [](double factor, int chroma) {
    return static_cast<int>(factor * 64 * (chroma - kHalf) + 0.5);
  };
  const auto clamped = [&](int v) { return static_cast<T>(std::clamp(v, 0, kMost)); };
  for (int64_t i = 0; i < pixels; ++i, row += step) {
    const int y = row[0], cb = row[1], cr = row[2];
    row[0] = clamped(y + (scaled(1.402, cr) >> 6));
    row[1] = clamped(y + ((scaled(-0.34414, cb) + scaled(-0.71414, cr)) >> 6));
    row[2] = clamped(y + (scaled(1.772, cb) >> 6));
  }
}

// Makes rows of pixels of the components' samples.
class Rows {
 public:
  Rows(const EncodedImage& image, const Header& h, const View& out, Arena& scratch)
      : h_(h),
        dtype_(h.dtype()),
        is_inked_(h.colour == Colour::kCmyk && image.options.output_type != ImageType::kAny),
        out_(image.options.output_type, is_inked_ ? 3 : static_cast<int>(h.channels), dtype_, out,
             scratch),
        row_(scratch.array<uint16_t>(static_cast<size_t>(out.shape[1]) * h.channels)) {
    const int full = dtype_ == DType::kUint8 ? 8 : 16;
    for (size_t c = 0; c < h.channels; ++c) {
      const Component& k = h.component[h.channel[c].component];
      if (h.channel[c].column >= 0) make_table(c, scratch);
      is_plain_ = is_plain_ && h.channel[c].column < 0 && k.dx == 1 && k.bits == full;
    }
  }

  PixelWriter& out() { return out_; }

  // Writes what is wanted of the area that was decoded, which begins and ends here on the grid.
  void put(const opj_image_t& image, const View& out, const Window& area) {
    const int64_t x = std::max(out.origin[1], area.begin[1]);
    const int64_t end_x = std::min(out.origin[1] + out.shape[1], area.end[1]);
    const int64_t y = std::max(out.origin[0], area.begin[0]);
    const int64_t end_y = std::min(out.origin[0] + out.shape[0], area.end[0]);
    for (int64_t r = y; r < end_y && x < end_x; ++r) {
      if (dtype_ == DType::kUint8) make(image, reinterpret_cast<uint8_t*>(row_), r, x, end_x - x);
      else make(image, row_, r, x, end_x - x);
      out_.put(r, row_, {x, 1}, end_x - x);
    }
  }

 private:
  // Of a component, the samples that a row of pixels shows.
  struct Samples {
    const int32_t* data;
    int64_t begin, count;  // the first one's number on the grid
  };
  Samples samples(const opj_image_t& image, size_t component, int64_t row) const {
    const opj_image_comp_t& c = image.comps[component];
    const int64_t y = std::clamp<int64_t>((h_.y0 + row) / c.dy - c.y0, 0, int64_t{c.h} - 1);
    return {c.data + y * c.w, c.x0, c.w};
  }

  template <class T>
  void make(const opj_image_t& image, T* row, int64_t y, int64_t x, int64_t pixels) const {
    if (is_plain_) {
      switch (h_.channels) {
        case 1: interleave<T, 1>(image, row, y, x, pixels); break;
        case 2: interleave<T, 2>(image, row, y, x, pixels); break;
        case 3: interleave<T, 3>(image, row, y, x, pixels); break;
        default: interleave<T, 4>(image, row, y, x, pixels);
      }
    } else {
      for (size_t c = 0; c < h_.channels; ++c) make_channel(c, image, row + c, y, x, pixels);
    }
    if (h_.colour == Colour::kYcc) make_rgb(row, static_cast<int64_t>(h_.channels), pixels);
    if constexpr (sizeof(T) == 1)
      if (is_inked_) remove_ink(row, pixels);
  }

  // Of components whose samples are the pixels' values.
  template <class T, size_t kChannels>
  void interleave(const opj_image_t& image, T* row, int64_t y, int64_t x, int64_t pixels) const {
    std::array<const int32_t*, kChannels> from;
    std::array<int32_t, kChannels> middle;
    for (size_t c = 0; c < kChannels; ++c) {
      const size_t component = h_.channel[c].component;
      const Samples s = samples(image, component, y);
      from[c] = s.data + (h_.x0 + x - s.begin);
      middle[c] = h_.component[component].middle();
    }
    for (int64_t i = 0; i < pixels; ++i, row += kChannels)
      for (size_t c = 0; c < kChannels; ++c) row[c] = static_cast<T>(from[c][i] + middle[c]);
  }

  template <class T>
  void make_channel(size_t c, const opj_image_t& image, T* to, int64_t y, int64_t x,
                    int64_t pixels) const {
    const Channel& channel = h_.channel[c];
    const Component& k = h_.component[channel.component];
    const Samples s = samples(image, channel.component, y);
    const auto step = static_cast<int64_t>(h_.channels);
    const int32_t middle = k.middle(), most = k.most();
    const auto last = static_cast<int32_t>(h_.entries) - 1;
    for (int64_t i = 0; i < pixels; ++i, to += step) {
      const int64_t at = (h_.x0 + x + i) / k.dx - s.begin;
      const int32_t v = s.data[std::clamp<int64_t>(at, 0, s.count - 1)];
      *to = channel.column < 0 ? scaled<T>(std::clamp(v + middle, 0, most), most)
                               : static_cast<T>(tables_[c][std::clamp(v, 0, last)]);
    }
  }
  template <class T>
  static T scaled(int32_t v, int32_t most) {
    constexpr uint32_t kFull = std::numeric_limits<T>::max();
    const auto m = static_cast<uint32_t>(most);
    return static_cast<T>((static_cast<uint32_t>(v) * kFull + m / 2) / m);
  }
  static void remove_ink(uint8_t* row, int64_t pixels) {
    for (int64_t i = 0; i < pixels; ++i) {
      const uint8_t* ink = row + 4 * i;
      const Pixel3 p = rgb_of_inverted_cmyk(255 - ink[0], 255 - ink[1], 255 - ink[2], 255 - ink[3]);
      row[3 * i] = p.a, row[3 * i + 1] = p.b, row[3 * i + 2] = p.c;
    }
  }

  // A column of the palette, as the output has it.
  void make_table(size_t c, Arena& scratch) {
    const auto column = static_cast<size_t>(h_.channel[c].column);
    const Component& k = h_.column[column];
    size_t at = 0;
    for (size_t i = 0; i < column; ++i) at += h_.column[i].bits > 8 ? 2 : 1;
    tables_[c] = scratch.array<uint16_t>(h_.entries);
    const int32_t most = k.most(), middle = k.middle();
    for (size_t i = 0; i < h_.entries; ++i, at += h_.entry_size) {
      const int32_t stored = k.bits > 8 ? h_.palette[at] << 8 | h_.palette[at + 1] : h_.palette[at];
      const int32_t v = (stored + middle) & most;
      tables_[c][i] =
          dtype_ == DType::kUint8 ? scaled<uint8_t>(v, most) : scaled<uint16_t>(v, most);
    }
  }

  const Header& h_;
  const DType dtype_;
  const bool is_inked_;
  bool is_plain_ = true;  // samples are the values of pixels
  PixelWriter out_;
  uint16_t* row_;
  std::array<uint16_t*, kMostChannels> tables_{};
};

class Reader {
 public:
  Reader(const EncodedImage& image, const View& out, Arena& scratch)
      : image_(image),
        h_(read_header(image.bytes)),
        needs_(h_),
        walk_(image.bytes, h_, needs_, scratch),
        out_(out),
        rows_(image, h_, out, scratch) {
    for (size_t c = 0; c < h_.components; ++c) {
      margin_x_ = std::max<int64_t>(margin_x_, h_.component[c].dx - 1);
      margin_y_ = std::max<int64_t>(margin_y_, h_.component[c].dy - 1);
    }
    scratch_ = &scratch;
  }

  void read(const Window& judged) {
    const bool tolerates = image_.options.tolerate_corrupt;
    const bool is_judged = judged.shape().volume() > 0;
    if (is_judged && !tolerates && !walk_.what().empty())
      throw SampleError("JPEG 2000 data is damaged: " + walk_.what(),
                        static_cast<int64_t>(walk_.at()));
    // Where OpenJPEG 2.5.0 tolerates damage, it reads behind its memory if it skips packets.
    Window all = tolerates ? Window::all(out_.full) : out_.covers();
    for (int a = 0; a < 2 && is_judged; ++a) {
      all.begin[a] = std::min(all.begin[a], judged.begin[a]);
      all.end[a] = std::max(all.end[a], judged.end[a]);
    }
    const Window whole = with_margin(all);
    scratch_->charge(needs_.bytes(whole.end[0] - whole.begin[0], whole.end[1] - whole.begin[1]));
    if (tolerates) rows_.out().clear();
    if (decode(all)) return;
    rows_.out().clear();
    // If it fails because of what is not judged, that alone is left out.
    if (!is_judged || tolerates || (!(judged == all) && decode(judged))) return;
    throw SampleError("JPEG 2000 data is damaged: " + message_, static_cast<int64_t>(at_));
  }

 private:
  // The first sample that has a part in a pixel lies before it, if a component has fewer samples.
  Window with_margin(Window w) const {
    w.begin[0] = std::max<int64_t>(w.begin[0] - margin_y_, 0);
    w.begin[1] = std::max<int64_t>(w.begin[1] - margin_x_, 0);
    return w;
  }

  // Whether what was decoded is what was asked for.
  bool holds(const opj_image_comp_t& got, const Component& k, const Window& w) const {
    const auto first = [](int64_t at, uint32_t step) { return (at + step - 1) / step; };
    return got.data && got.x0 == first(h_.x0 + w.begin[1], k.dx) &&
           got.y0 == first(h_.y0 + w.begin[0], k.dy) &&
           int64_t{got.x0} + got.w == first(h_.x0 + w.end[1], k.dx) &&
           int64_t{got.y0} + got.h == first(h_.y0 + w.end[0], k.dy) && got.w > 0 && got.h > 0;
  }

  bool decode(const Window& wanted) {
    const Window w = with_margin(wanted);
    Decoder decoder(h_.stream.first(walk_.sound()), !image_.options.tolerate_corrupt,
                    walk_.wrong_length());
    const opj_image_t* got =
        decoder.decode(h_.x0 + w.begin[1], h_.y0 + w.begin[0], h_.x0 + w.end[1], h_.y0 + w.end[0]);
    message_ = decoder.message().empty() ? "OpenJPEG gives up" : decoder.message();
    at_ = h_.stream_at + decoder.at();
    if (!got || got->numcomps != h_.components) return false;
    for (size_t c = 0; c < h_.components; ++c)
      if (!holds(got->comps[c], h_.component[c], w)) return false;
    rows_.put(*got, out_, wanted);
    return true;
  }

  const EncodedImage& image_;
  const Header h_;
  Needs needs_;
  const Walk walk_;
  const View& out_;
  Rows rows_;
  Arena* scratch_ = nullptr;
  int64_t margin_x_ = 0, margin_y_ = 0;
  std::string message_;
  size_t at_ = 0;
};

class Jpeg2000Codec final : public ImageCodec {
 public:
  const char* name() const override { return "JPEG 2000"; }
  bool recognises(EncodedSpan b) const override {
    constexpr std::string_view kBox = "\0\0\0\x0CjP  \r\n\x87\n"sv;
    return is_code_stream(b) ||
           std::string_view(reinterpret_cast<const char*>(b.data()), b.size()).starts_with(kBox);
  }

  ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const override {
    const Header h = read_header(bytes);
    ImageInfo info;
    info.format = name();
    info.stored_height = h.height();
    info.stored_width = h.width();
    info.channels = static_cast<int>(h.channels);
    info.is_ycbcr = h.colour == Colour::kYcc;
    info.dtype = h.dtype();
    set_displayed(info, options);
    return info;
  }

  void decode(const EncodedImage& image, const View& out, const Window& judged, Arena& scratch,
              int64_t) const override {
    const StoredPart part(image, out, judged);
    if (part.is_empty()) return;
    Reader(image, part.out, scratch)
        .read(image.options.verify ? Window::all(image.type().shape) : judged);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::Jpeg2000Codec)
