// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of TIFF, by libtiff-4 (libtiff-dev).
// Endings: .tif .tiff
// "II*\0", "MM\0*" at byte 0: a TIFF image
// "II+\0", "MM\0+" at byte 0: a BigTIFF image
//
// One directory: strips and tiles, of all compressions that libtiff was built with, of whole
// numbers of 1 to 16 bits, or floats of 16, 32 and 64.
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/foreign_bytes.h"
#include "base/half.h"
#include "base/picture_formats.h"
#include "codec/opened.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

constexpr size_t kMostAtOnce = size_t{64} << 20;  // bytes that libtiff may ask for
// What libtiff takes itself: a codec's tables, some rows, and numbers for each strip or tile.
constexpr size_t kOwnMemory = 1 << 20, kForEachStrip = 16;
constexpr int kMostSamples = 64;  // of a pixel
constexpr int64_t kLargestBand = int64_t{1} << 28;  // pixels of a tile, and of tiles side by side

// The chain of directories, one for each page, in the byte order that the file begins with:
//
//   "II" or "MM", 42:2 first:4         TIFF;    directory: count:2 | entries of 12 bytes | next:4
//   "II" or "MM", 43:2 8:4 first:8     BigTIFF; directory: count:8 | entries of 20 bytes | next:8
class Directories {
 public:
  // Requires: libtiff has read the file's header.
  explicit Directories(EncodedSpan file)
      : file_(file, file[0] == 'I' ? ByteOrder::kLittle : ByteOrder::kBig, kWords),
        is_big_(file[2] == 43 || file[3] == 43) {}

  // Where the directory of a page begins. Throws SampleError where the file has no such page, or
  // the chain leads back into itself before.
  uint64_t at(int64_t page) const {
    uint64_t at = first();
    // A directory met earlier, another one at each power of two, is met again if there is a loop.
    uint64_t met = at;
    for (int64_t i = 0, renewed = 1; i < page; ++i) {
      at = behind(at);
      if (at == 0)
        throw SampleError("TIFF has no page " + std::to_string(page) + ", its last one is page " +
                          std::to_string(i));
      if (at == met) fail_in_loop(at);
      if (i + 1 == renewed) met = at, renewed *= 2;
    }
    uint64_t before = first();
    for (int64_t i = 0; i < page; ++i, before = behind(before))
      if (before == at) fail_in_loop(at);
    return at;
  }

 private:
  uint64_t first() const { return is_big_ ? number(8, 8) : number(4, 4); }
  uint64_t behind(uint64_t at) const {
    const uint64_t count = is_big_ ? number(at, 8) : number(at, 2), entry = is_big_ ? 20 : 12;
    if (count > file_.end() / entry)
      file_.fail("a directory claims " + std::to_string(count) + " entries", at);
    return is_big_ ? number(at + 8 + entry * count, 8) : number(at + 2 + entry * count, 4);
  }
  uint64_t number(uint64_t at, size_t size) const {
    ForeignBytes b = file_.from(at);
    if (!b.has(size)) b.fail("a directory lies outside of the file");
    return b.number(size);
  }
  [[noreturn]] void fail_in_loop(uint64_t at) const {
    file_.fail("its directories form a loop", at);
  }

  static constexpr ForeignBytes::Words kWords = {"TIFF header is damaged"};
  ForeignBytes file_;
  bool is_big_;
};

// A file in memory, at one of its pages. libtiff reads it where it is, and never prints.
class Tiff {
 public:
  Tiff(EncodedSpan file, int64_t page) : file_(file) {
    const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(
        TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
    if (!options) throw BudgetError("the system has no memory left to decode a TIFF image");
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, this);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMostAtOnce);
    tiff_ =
        TIFFClientOpenExt("", "r", this, read, write, seek, close, size, map, unmap, options.get());
    if (!tiff_) fail("TIFF header is damaged");
    if (page > 0) set_page(page);
  }
  ~Tiff() { TIFFClose(tiff_); }
  Tiff(const Tiff&) = delete;
  Tiff& operator=(const Tiff&) = delete;

  TIFF* get() const { return tiff_; }
  uint32_t number(uint32_t tag, uint32_t otherwise = 0) const {
    uint32_t v = 0;
    return TIFFGetField(tiff_, tag, &v) ? v : otherwise;
  }
  uint16_t small(uint32_t tag) const {
    uint16_t v = 0;
    return TIFFGetFieldDefaulted(tiff_, tag, &v) ? v : uint16_t{0};
  }
  [[noreturn]] void fail(const char* what) const {
    throw SampleError(
        std::string(what) + ": " + (message_[0] ? message_.data() : "libtiff gives up"),
        static_cast<int64_t>(at_));
  }

 private:
  void set_page(int64_t page) try {
    if (!TIFFSetSubDirectory(tiff_, Directories(file_).at(page))) fail("TIFF header is damaged");
  } catch (const SampleError&) {
    TIFFClose(tiff_);
    throw;
  }
  static Tiff& self(thandle_t t) { return *static_cast<Tiff*>(t); }
  static int on_error(TIFF*, void* tiff, const char*, const char* format, va_list values) {
    auto& message = self(tiff).message_;
    if (!message[0]) std::vsnprintf(message.data(), message.size(), format, values);
    // libtiff may quote the file.
    for (char& c : message)
      if (c && (c < 0x20 || c > 0x7E)) c = '?';
    return 1;
  }
  static int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }
  static tmsize_t read(thandle_t t, void* to, tmsize_t count) {
    Tiff& f = self(t);
    const size_t left = f.at_ < f.file_.size() ? f.file_.size() - f.at_ : 0;
    const size_t n = std::min(left, static_cast<size_t>(std::max<tmsize_t>(count, 0)));
    if (n > 0) std::memcpy(to, f.file_.data() + f.at_, n);
    f.at_ += n;
    return static_cast<tmsize_t>(n);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t t, toff_t offset, int whence) {
    Tiff& f = self(t);
    const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f.at_ : f.file_.size();
    f.at_ = static_cast<size_t>(std::min<toff_t>(base + offset, f.file_.size()));
    return f.at_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t t) { return self(t).file_.size(); }
  static int map(thandle_t t, void** begin, toff_t* count) {
    *begin = const_cast<uint8_t*>(self(t).file_.data());
    *count = self(t).file_.size();
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}

  EncodedSpan file_;
  size_t at_ = 0;
  std::array<char, 160> message_{};
  TIFF* tiff_ = nullptr;
};

struct Header {
  int64_t width = 0, height = 0;
  int bits = 0, samples = 0;
  uint16_t photometric = 0;
  bool is_planar = false, is_tiled = false;
  int64_t band = 0;  // rows of a strip or tile
  int64_t tile_width = 0;  // the width, of strips
  int orientation = 1;

  bool is_float = false, is_lossy = false;

  bool has_palette() const { return photometric == PHOTOMETRIC_PALETTE; }
  bool is_indexed() const { return has_palette() || bits < 8; }
  bool is_ink() const { return photometric == PHOTOMETRIC_SEPARATED; }
  bool is_rgb() const { return photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR; }
  bool is_gray() const { return photometric <= PHOTOMETRIC_MINISBLACK; }
  // Whether there is one number for each pixel, perhaps with alpha, as it was saved.
  bool holds_numbers() const {
    return !is_lossy && !is_float && samples <= 2 && (is_gray() || has_palette());
  }
  bool is_inverted() const { return photometric == PHOTOMETRIC_MINISWHITE; }
  int channels() const { return has_palette() ? 3 : samples; }
  int colors() const { return is_ink() ? 4 : is_rgb() ? 3 : 1; }
  // How many samples of a pixel are written. Alpha may be among them where only colours are wanted.
  int kept(ImageType type) const {
    return type == ImageType::kAny || samples == colors() || (samples == colors() + 1 && !is_ink())
               ? samples
               : colors();
  }
  DType dtype() const {
    return is_float ? DType::kFloat32 : bits == 16 ? DType::kUint16 : DType::kUint8;
  }
  int planes() const { return is_planar ? samples : 1; }
  int64_t row_bytes(int64_t pixels) const {  // of a plane
    return (pixels * bits * (is_planar ? 1 : samples) + 7) / 8;
  }
};

void check_kind(const Tiff& t, const Header& h) {
  const uint16_t format = t.small(TIFFTAG_SAMPLEFORMAT);
  const bool is_known = h.is_ink() ? t.small(TIFFTAG_INKSET) == INKSET_CMYK
                                   : h.is_rgb() || h.is_gray() || h.has_palette();
  const bool is_whole = h.bits == 8 || (h.bits == 16 && !h.has_palette()) ||
                        (h.colors() == 1 && (h.bits == 1 || h.bits == 2 || h.bits == 4));
  const bool is_float =
      (h.bits == 16 || h.bits == 32 || h.bits == 64) &&
      (h.photometric == PHOTOMETRIC_RGB || h.photometric == PHOTOMETRIC_MINISBLACK);
  const int most = h.is_indexed() ? 1 : kMostSamples;
  if (is_known && h.samples >= h.colors() && h.samples <= most &&
      (format == SAMPLEFORMAT_UINT ? is_whole : format == SAMPLEFORMAT_IEEEFP && is_float))
    return;
  throw SampleError("TIFF of " + std::to_string(h.samples) + " samples of " +
                    std::to_string(h.bits) + " bits, sample format " + std::to_string(format) +
                    " and photometric interpretation " + std::to_string(h.photometric) +
                    " is not supported");
}

// Whether a compression of TIFF may change samples.
bool is_lossy(uint16_t compression) {
  constexpr uint16_t kLossless[] = {
      COMPRESSION_NONE,          COMPRESSION_CCITTRLE,  COMPRESSION_CCITTRLEW,
      COMPRESSION_CCITTFAX3,     COMPRESSION_CCITTFAX4, COMPRESSION_LZW,
      COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,   COMPRESSION_PACKBITS,
      COMPRESSION_LZMA,          COMPRESSION_ZSTD,      COMPRESSION_THUNDERSCAN,
      COMPRESSION_NEXT};
  return std::find(std::begin(kLossless), std::end(kLossless), compression) == std::end(kLossless);
}

Header read_header(const Tiff& t) {
  Header h;
  h.width = t.number(TIFFTAG_IMAGEWIDTH);
  h.height = t.number(TIFFTAG_IMAGELENGTH);
  if (h.width < 1 || h.height < 1 || h.width > INT32_MAX || h.height > INT32_MAX)
    throw SampleError("TIFF header is damaged: it claims " + std::to_string(h.width) + " x " +
                      std::to_string(h.height) + " pixels");
  h.bits = t.small(TIFFTAG_BITSPERSAMPLE);
  h.samples = t.small(TIFFTAG_SAMPLESPERPIXEL);
  h.photometric = t.small(TIFFTAG_PHOTOMETRIC);
  h.is_float = t.small(TIFFTAG_SAMPLEFORMAT) == SAMPLEFORMAT_IEEEFP;
  h.is_lossy = is_lossy(t.small(TIFFTAG_COMPRESSION));
  h.is_planar = t.small(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && h.samples > 1;
  h.is_tiled = TIFFIsTiled(t.get());
  h.band = h.is_tiled ? t.number(TIFFTAG_TILELENGTH)
                      : std::min<int64_t>(t.number(TIFFTAG_ROWSPERSTRIP, UINT32_MAX), h.height);
  h.tile_width = h.is_tiled ? t.number(TIFFTAG_TILEWIDTH) : h.width;
  if (h.band < 1 || h.tile_width < 1 || h.band * h.tile_width > kLargestBand ||
      h.band * h.width > kLargestBand)
    throw SampleError("TIFF header is damaged: its strips or tiles have " +
                      std::to_string(h.tile_width) + " x " + std::to_string(h.band) + " pixels");
  const uint16_t orientation = t.small(TIFFTAG_ORIENTATION);
  h.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
  check_kind(t, h);
  if (h.photometric == PHOTOMETRIC_YCBCR) {
    if (t.small(TIFFTAG_COMPRESSION) != COMPRESSION_JPEG)
      throw SampleError("TIFF of YCbCr without JPEG's compression is not supported");
    TIFFSetField(t.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  return h;
}

class Reader {
 public:
  Reader(const EncodedImage& image, const Tiff& t, const Header& h, const View& stored,
         Arena& scratch)
      : t_(t),
        h_(h),
        kept_(h.kept(image.options.output_type)),
        out_(image.options.output_type, h.has_palette() ? 3 : kept_, h.dtype(), stored, scratch),
        tile_bytes_(h.row_bytes(h.tile_width) * h.band),
        band_bytes_(tile_bytes_ * tiles()),
        band_(scratch.array<uint8_t>(static_cast<size_t>(band_bytes_ * h.planes()))),
        row_(scratch.array<uint8_t>(static_cast<size_t>(
            h.width * h.samples * std::max<int64_t>(element(), size_of(h.dtype())) + 8))) {
    scratch.charge(kOwnMemory + kForEachStrip * TIFFNumberOfStrips(t.get()));
    const int64_t needed = h.is_tiled ? TIFFTileSize64(t.get()) : TIFFStripSize64(t.get());
    if (needed > tile_bytes_)
      throw SampleError("TIFF header is damaged: its strips or tiles have two sizes");
    if (h.is_indexed()) use_palette();
    if (h.is_ink()) out_.use_cmyk();
    if (image.options.tolerate_corrupt) out_.clear();
  }

  void read(int64_t judged_rows, bool tolerates) {
    for (int64_t y = 0; y < std::max(judged_rows, out_.end_row()); y += h_.band) {
      const bool is_wanted = y + h_.band > out_.begin_row() && y < out_.end_row();
      if (!is_wanted && y >= judged_rows) continue;
      if (!read_band(y) && y < judged_rows && !tolerates) t_.fail("TIFF data is damaged");
      for (int64_t r = y; is_wanted && r < std::min(y + h_.band, h_.height); ++r)
        if (out_.wants_row(r)) put(r, r - y);
    }
  }

 private:
  int64_t element() const { return h_.bits <= 8 ? 1 : h_.bits / 8; }  // bytes of a sample
  int64_t tiles() const { return (h_.width + h_.tile_width - 1) / h_.tile_width; }

  // False if any of its strips or tiles is damaged; these are zero.
  bool read_band(int64_t y) {
    std::memset(band_, 0, static_cast<size_t>(band_bytes_ * h_.planes()));
    bool is_good = true;
    for (int p = 0; p < h_.planes(); ++p)
      for (int64_t i = 0; i < tiles(); ++i) {
        uint8_t* const to = band_ + p * band_bytes_ + i * tile_bytes_;
        const auto x = static_cast<uint32_t>(i * h_.tile_width), row = static_cast<uint32_t>(y);
        const auto plane = static_cast<uint16_t>(p);
        const int64_t rows = std::min(h_.band, h_.height - y);
        const int64_t size = h_.is_tiled ? tile_bytes_ : h_.row_bytes(h_.width) * rows;
        const int64_t got =
            h_.is_tiled
                ? TIFFReadEncodedTile(t_.get(), TIFFComputeTile(t_.get(), x, row, 0, plane), to,
                                      size)
                : TIFFReadEncodedStrip(t_.get(), TIFFComputeStrip(t_.get(), row, plane), to, size);
        if (got == size) continue;
        is_good = false;
        std::memset(to, 0, static_cast<size_t>(tile_bytes_));
      }
    return is_good;
  }

  void put(int64_t y, int64_t row_of_band) {
    const int64_t element = this->element();
    for (int p = 0; p < h_.planes(); ++p)
      for (int64_t i = 0; i < tiles(); ++i) {
        const uint8_t* from =
            band_ + p * band_bytes_ + i * tile_bytes_ + row_of_band * h_.row_bytes(h_.tile_width);
        const int64_t x = i * h_.tile_width, pixels = std::min(h_.tile_width, h_.width - x);
        if (h_.bits < 8) {
          unpack_bits(from, h_.bits, row_ + x, pixels);
        } else if (!h_.is_planar) {
          const int64_t pixel = h_.samples * element;
          std::memcpy(row_ + x * pixel, from, static_cast<size_t>(pixels * pixel));
        } else {
          for (int64_t k = 0; k < pixels; ++k)
            std::memcpy(row_ + ((x + k) * h_.samples + p) * element, from + k * element,
                        static_cast<size_t>(element));
        }
      }
    if (h_.is_inverted() && !h_.is_indexed()) invert();
    if (kept_ < h_.samples) drop_samples();
    if (h_.is_float) make_floats();
    out_.put(y, row_);
  }

  void drop_samples() {
    const int64_t from = h_.samples * element(), to = kept_ * element();
    for (int64_t x = 1; x < h_.width; ++x)
      std::memmove(row_ + x * to, row_ + x * from, static_cast<size_t>(to));
  }

  // Turns floats of 16 or 64 bits into the nearest ones of 32.
  void make_floats() {
    auto* const to = reinterpret_cast<float*>(row_);
    const int64_t count = h_.width * kept_;
    if (h_.bits == 64)
      for (int64_t i = 0; i < count; ++i) {
        double v;
        std::memcpy(&v, row_ + 8 * i, sizeof v);
        to[i] = static_cast<float>(v);
      }
    if (h_.bits == 16)
      for (int64_t i = count; i-- > 0;) {
        Half v;
        std::memcpy(&v, row_ + 2 * i, sizeof v);
        to[i] = to_float(v);
      }
  }

  // Inverts gray, not alpha.
  void invert() {
    auto* const words = reinterpret_cast<uint16_t*>(row_);
    for (int64_t i = 0; i < h_.width * h_.samples; i += h_.samples)
      if (h_.bits == 16) words[i] = static_cast<uint16_t>(~words[i]);
      else row_[i] = static_cast<uint8_t>(~row_[i]);
  }

  void use_palette() {
    std::array<uint8_t, 256 * 3> entries{};
    const size_t count = size_t{1} << h_.bits;
    if (!h_.has_palette()) {
      std::array<uint8_t, 256> levels;
      for (size_t i = 0; i < count; ++i) {
        const size_t level = h_.is_inverted() ? count - 1 - i : i;
        levels[i] = static_cast<uint8_t>(level);
        entries[i] = static_cast<uint8_t>(255 * level / (count - 1));
      }
      return out_.use_palette({entries.data(), count}, {levels.data(), count});
    }
    uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    if (!TIFFGetField(t_.get(), TIFFTAG_COLORMAP, &red, &green, &blue))
      throw SampleError("TIFF header is damaged: it has no palette");
    for (size_t i = 0; i < count; ++i) {
      entries[3 * i] = static_cast<uint8_t>(red[i] >> 8);
      entries[3 * i + 1] = static_cast<uint8_t>(green[i] >> 8);
      entries[3 * i + 2] = static_cast<uint8_t>(blue[i] >> 8);
    }
    out_.use_palette({entries.data(), 3 * count});
  }

  const Tiff& t_;
  const Header& h_;
  const int kept_;  // of the samples of a pixel
  PixelWriter out_;
  const int64_t tile_bytes_, band_bytes_;  // of a plane
  uint8_t *band_, *row_;
};

struct Page {
  Page(EncodedSpan file, int64_t number) : tiff(file, number), header(read_header(tiff)) {}
  const Tiff tiff;
  const Header header;
};

class TiffCodec final : public StoredCodec {
 public:
  const char* name() const override { return "TIFF"; }
  bool has_pages() const override { return true; }
  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions& options) const override {
    auto page = std::make_unique<Page>(bytes, options.page);
    const Header& h = page->header;
    ImageInfo info;
    info.stored_height = h.height;
    info.stored_width = h.width;
    info.channels = h.channels();
    info.holds_numbers = h.holds_numbers();
    info.dtype = h.dtype();
    info.orientation = h.orientation;
    info.header = Opened(std::move(page));
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    const auto page = Opened<Page>::take(
        image, [&] { return std::make_unique<Page>(image.bytes, image.options.page); });
    Reader(image, page->tiff, page->header, part.out, scratch)
        .read(part.judged_rows, image.options.tolerate_corrupt);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::TiffCodec)
