// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of BMP, by our own code.
// Endings: .bmp .dib
// "BM" at byte 0: a BMP image
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/foreign_bytes.h"
#include "base/picture_formats.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

// A file has no byte order but little-endian:
//
//   "BM" size:4 0:4 data:4 | header, of at least:
//     size:4 width:4 height:4 planes:2 bits:2 compression:4 size:4 ...:8 colours:4 colours:4
//     size:4 width:2 height:2 planes:2 bits:2                         the old one, of OS/2
//   | masks, which newer headers hold themselves | palette: blue green red 0 | ... | data: rows,
//   from the bottom up unless the height is negative, each padded to 4 bytes
constexpr size_t kFileHeader = 14, kOldHeader = 12;  // bytes
constexpr ForeignBytes::Words kHeader = {"BMP header is damaged",
                                         "BMP header is damaged: it ends too early"};
constexpr ForeignBytes::Words kData = {"BMP data is damaged",
                                       "BMP data is damaged: it ends prematurely"};
enum Compression : uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

// Where a sample lies in the bits of a pixel.
struct Mask {
  uint32_t bits = 0;
  int shift = 0, count = 0;

  explicit Mask(uint32_t m = 0) : bits(m) {
    if (m) shift = std::countr_zero(m), count = std::popcount(m);
  }
  bool is_one_run() const { return bits == 0 || bits >> shift == ~uint32_t{0} >> (32 - count); }
  uint8_t of(uint32_t pixel) const {
    if (bits == 0) return 0;
    const uint64_t v = (pixel & bits) >> shift;
    return static_cast<uint8_t>(count > 8 ? v >> (count - 8) : v * 255 / ((1u << count) - 1));
  }
};

struct Header {
  int64_t width = 0, height = 0;
  bool is_top_first = false;
  uint32_t bits = 0, compression = kNone;
  std::array<Mask, 4> masks;  // red, green, blue, alpha
  size_t data_at = 0;
  std::array<uint8_t, 256 * 3> palette{};  // RGB
  size_t colors = 0;
  bool is_gray = false;  // each index is its own intensity

  bool has_palette() const { return bits <= 8; }
  bool is_packed() const { return compression == kRle8 || compression == kRle4; }
  int channels() const { return is_gray ? 1 : masks[3].bits ? 4 : 3; }
  int64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

// `masks` is where a header with masks has them; the bytes need not be there for other headers.
void read_masks(ForeignBytes masks, size_t size, Header& h) {
  const ForeignBytes begin = masks;
  if (h.compression == kMasks || h.compression == kMasksWithAlpha) {
    const bool has_alpha = size >= 56 || h.compression == kMasksWithAlpha;
    for (size_t i = 0; i < (has_alpha ? 4u : 3u); ++i) h.masks[i] = Mask(masks.u32());
  } else if (h.bits == 16) {
    h.masks = {Mask(0x7C00), Mask(0x03E0), Mask(0x001F), Mask()};
  } else {
    h.masks = {Mask(0xFF0000), Mask(0x00FF00), Mask(0x0000FF), Mask()};
  }
  for (const Mask& m : h.masks)
    if (!m.is_one_run()) begin.fail("the bits of a colour are not side by side");
}

void read_palette(ForeignBytes b, size_t used, size_t entry, Header& h) {
  const size_t most = size_t{1} << h.bits;
  h.colors = used == 0 ? most : std::min(used, most);
  const EncodedSpan entries = b.bytes(h.colors * entry);
  h.is_gray = true;
  for (size_t i = 0; i < h.colors; ++i)
    for (size_t c = 0; c < 3; ++c) {
      const uint8_t v = h.palette[3 * i + c] = entries[i * entry + 2 - c];
      h.is_gray &= v == (h.colors == 2 ? 255 * i : i);
    }
}

bool is_supported(const Header& h) {
  switch (h.compression) {
    case kNone: return h.bits == 1 || h.bits == 4 || (h.bits > 0 && h.bits % 8 == 0);
    case kRle8: return h.bits == 8 && !h.is_top_first;
    case kRle4: return h.bits == 4 && !h.is_top_first;
    default: return h.bits == 16 || h.bits == 32;
  }
}

Header read_header(EncodedSpan file) {
  Header h;
  const ForeignBytes all(file, ByteOrder::kLittle, kHeader);
  ForeignBytes b = all.from(kFileHeader);
  const size_t size = b.u32(), fields_at = b.at();
  const bool is_old = size == kOldHeader;
  if (!is_old && (size < 40 || size > 124)) b.fail("its size is " + std::to_string(size), 14);
  all.from(kFileHeader).bytes(size);  // all of it is there
  size_t used = 0;
  if (is_old) {
    h.width = b.u16();
    h.height = b.u16();
    b.skip(2);
    h.bits = b.u16();
  } else {
    h.width = static_cast<int32_t>(b.u32());
    h.height = static_cast<int32_t>(b.u32());
    b.skip(2);
    h.bits = b.u16();
    h.compression = b.u32();
    b.skip(12);
    used = b.u32();
    h.is_top_first = std::exchange(h.height, std::abs(h.height)) < 0;
  }
  if (h.width < 1 || h.height < 1)
    b.fail("it claims " + std::to_string(h.width) + " x " + std::to_string(h.height) + " pixels",
           fields_at);
  const bool has_masks = h.compression == kMasks || h.compression == kMasksWithAlpha;
  if (h.bits > 32 || (h.compression > kMasks && !has_masks) || !is_supported(h))
    throw SampleError("BMP of " + std::to_string(h.bits) + " bits and the compression " +
                          std::to_string(h.compression) + " is not supported",
                      is_old ? 24 : 28);
  if (!h.has_palette()) read_masks(all.from(kFileHeader + 40), size, h);
  const bool has_masks_behind = has_masks && size == 40;
  const size_t behind = kFileHeader + size + (has_masks_behind ? 12 : 0);
  if (h.has_palette()) read_palette(all.from(behind), used, is_old ? 3 : 4, h);
  h.data_at = all.from(10).u32();
  if (h.data_at < behind) h.data_at = behind + h.colors * (is_old ? 3 : 4);
  return h;
}

// Unpacks runs of indices, from the bottom row up, into width x height bytes. What is skipped is 0.
class Runs {
 public:
  Runs(EncodedSpan file, const Header& h, uint8_t* indices)
      : h_(h),
        data_(ForeignBytes(file, ByteOrder::kLittle, kData).from(h.data_at)),
        indices_(indices) {
    std::memset(indices, 0, static_cast<size_t>(h.width * h.height));
  }

  void unpack() {
    const int64_t all = h_.width * h_.height;
    while (done_ < all) {
      const int64_t count = next();
      const uint8_t value = next();
      if (count > 0) {
        put_run(std::min(count, h_.width - done_ % h_.width), value);
      } else if (value == 0) {
        if (const int64_t x = done_ % h_.width) done_ += h_.width - x;
      } else if (value == 1) {
        return;
      } else if (value == 2) {
        const int64_t right = next(), up = next();
        done_ += right + up * h_.width;
      } else {
        put_literal(value);
      }
    }
  }

 private:
  uint8_t next() { return data_.u8(); }
  void put(int64_t index) {
    if (done_ >= h_.width * h_.height) data_.fail("it has too many pixels");
    indices_[done_++] = static_cast<uint8_t>(index);
  }
  void put_run(int64_t count, uint8_t value) {
    for (int64_t i = 0; i < count; ++i)
      put(h_.bits == 8 ? value : i % 2 == 0 ? value >> 4 : value & 15);
  }
  // Literals are padded to words.
  void put_literal(int64_t count) {
    const size_t begin = data_.at();
    uint8_t two = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (h_.bits == 8) {
        put(next());
        continue;
      }
      if (i % 2 == 0) two = next();
      put(i % 2 == 0 ? two >> 4 : two & 15);
    }
    if ((data_.at() - begin) % 2 == 1) next();
  }

  const Header& h_;
  ForeignBytes data_;
  uint8_t* indices_;
  int64_t done_ = 0;
};

class Reader {
 public:
  Reader(const EncodedImage& image, const Header& h, const View& out, Arena& scratch)
      : file_(image.bytes),
        h_(h),
        is_swapped_(h.bits == 24 && (image.options.output_type == ImageType::kRGB ||
                                     image.options.output_type == ImageType::kBGR)),
        out_(writer_type(image.options.output_type), channels(image.options.output_type, h),
             DType::kUint8, out, scratch),
        row_(scratch.array<uint8_t>(static_cast<size_t>(h.width) * 4 + 8)) {
    if (h.has_palette()) use_palette();
    if (image.options.tolerate_corrupt) out_.clear();
    if (h.is_packed()) unpacked_ = scratch.array<uint8_t>(static_cast<size_t>(h.width * h.height));
  }

  PixelWriter& out() { return out_; }

  // Throws SampleError. Requires: the data is packed.
  void unpack() { Runs(file_, h_, unpacked_).unpack(); }

  // Throws SampleError where the row is not there.
  void read(int64_t y) {
    const int64_t stored = h_.is_top_first ? y : h_.height - 1 - y;
    if (unpacked_) {
      if (out_.wants_row(y)) out_.put(y, unpacked_ + stored * h_.width);
      return;
    }
    const size_t begin = h_.data_at + static_cast<size_t>(stored * h_.row_bytes());
    const auto used = static_cast<size_t>((h_.width * h_.bits + 7) / 8);  // without padding
    ForeignBytes data = ForeignBytes(file_, ByteOrder::kLittle, kData).from(begin);
    const EncodedSpan row = data.bytes(used);
    if (out_.wants_row(y)) out_.put(y, samples(row.data()));
  }

 private:
  static int channels(ImageType type, const Header& h) {
    return type == ImageType::kAny || h.has_palette() ? h.channels() : 3;
  }

  // The bytes are blue, green and red: their red is wanted where that of RGB is blue.
  ImageType writer_type(ImageType type) const {
    if (!is_swapped_) return type;
    return type == ImageType::kRGB ? ImageType::kBGR : ImageType::kRGB;
  }

  void use_palette() {
    std::array<uint8_t, 256> gray;
    for (size_t i = 0; i < h_.colors; ++i) gray[i] = h_.palette[3 * i];
    if (h_.is_gray) out_.use_palette({gray.data(), h_.colors});
    else out_.use_palette({h_.palette.data(), 3 * h_.colors});
  }

  const uint8_t* samples(const uint8_t* from) {
    if (h_.bits == 8 || is_swapped_) return from;
    if (h_.bits < 8) unpack_bits(from, static_cast<int>(h_.bits), row_, h_.width);
    else if (h_.bits == 24) swap_colors<3>(from);
    else if (h_.bits == 32 && !h_.masks[3].bits && h_.masks[0].bits == 0xFF0000 &&
             h_.masks[1].bits == 0xFF00 && h_.masks[2].bits == 0xFF)
      swap_colors<4>(from);
    else take_masked(from);
    return row_;
  }
  template <int kStep>
  void swap_colors(const uint8_t* from) {
    uint8_t* to = row_;
    for (int64_t x = 0; x < h_.width; ++x, from += kStep, to += 3)
      to[0] = from[2], to[1] = from[1], to[2] = from[0];
  }
  void take_masked(const uint8_t* from) {
    uint8_t* to = row_;
    const int64_t step = h_.bits / 8;
    const int channels = out_.channels();
    for (int64_t x = 0; x < h_.width; ++x, from += step) {
      uint32_t pixel = 0;
      for (int64_t i = step; i-- > 0;) pixel = pixel << 8 | from[i];
      for (int c = 0; c < channels; ++c) *to++ = h_.masks[static_cast<size_t>(c)].of(pixel);
    }
  }

  EncodedSpan file_;
  const Header& h_;
  const bool is_swapped_;  // the writer swaps red and blue
  PixelWriter out_;
  uint8_t* row_;
  uint8_t* unpacked_ = nullptr;
};

class BmpCodec final : public StoredCodec {
 public:
  const char* name() const override { return "BMP"; }
  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    const Header h = read_header(bytes);
    ImageInfo info = stored_info(h);
    info.channels = h.channels();
    info.holds_numbers = h.has_palette();
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    const auto& h = header_of<Header>(image);
    const bool tolerates = image.options.tolerate_corrupt;
    Reader reader(image, h, part.out, scratch);
    // Runs have to be unpacked from the first one on, which is at the bottom of the picture.
    if (h.is_packed()) try {
        reader.unpack();
      } catch (const SampleError&) {
        if (part.judged_rows > 0 && !tolerates) throw;
      }
    for (int64_t y = 0; y < std::max(part.judged_rows, reader.out().end_row()); ++y) try {
        reader.read(y);
      } catch (const SampleError&) {
        if (y < part.judged_rows && !tolerates) throw;
      }
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::BmpCodec)
