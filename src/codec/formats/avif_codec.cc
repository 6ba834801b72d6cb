// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of AVIF, by libavif (libavif-dev).
// Endings: .avif
// "ftypavif" at byte 4: an AVIF image
//
// Still pictures and grids of them, with and without alpha, of 8, 10 and 12 bits. Of a sequence,
// the first frame. It is turned as its properties say: EXIF has no say in AVIF.
#include <avif/avif.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/boxes.h"
#include "codec/color.h"
#include "codec/opened.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

// The decoder's pictures may be this much wider and higher than what they show.
constexpr uint32_t kMostBeyond = 128;

template <class Use>
void for_each_box(ForeignBytes b, std::string_view type, const Use& use) {
  Boxes boxes(b);
  for (Box box; boxes.next(box);)
    if (box.type == type) use(box.data);
}

// Of how many pictures grids are made, of which each has a decoder:
//
//   "meta" version flags | boxes, such as
//     "iref" version flags | boxes, such as
//       "dimg" item count:2 | count items        an item's number has 2 bytes, or 4 by the version
//
// Requires: libavif has taken the file.
uint64_t count_cells(EncodedSpan file) {
  uint64_t cells = 0;
  for_each_box(ForeignBytes(file, ByteOrder::kBig), "meta", [&](ForeignBytes meta) {
    if (!meta.has(4)) return;
    take_full_box_head(meta);
    for_each_box(meta, "iref", [&](ForeignBytes references) {
      if (!references.has(4)) return;
      const size_t item = take_full_box_head(references).version == 0 ? 2 : 4;
      for_each_box(references, "dimg", [&](ForeignBytes grid) {
        if (!grid.has(item + 2)) return;
        grid.skip(item);
        cells += grid.u16();
      });
    });
  });
  return cells;
}

class Decoder {
 public:
  explicit Decoder(EncodedSpan file) : file_(file) {
    if (!decoder_) throw BudgetError("the system has no memory left to decode an AVIF image");
    decoder_->maxThreads = 1;
    decoder_->ignoreExif = decoder_->ignoreXMP = AVIF_TRUE;
    // Some writers leave these out, and Pillow does not ask for them either.
    decoder_->strictFlags &=
        ~static_cast<uint32_t>(AVIF_STRICT_PIXI_REQUIRED | AVIF_STRICT_CLAP_VALID);
    check(avifDecoderSetIOMemory(decoder_.get(), file.data(), file.size()), "header");
    check(avifDecoderParse(decoder_.get()), "header");
  }

  // Refuses data of more pixels.
  void decode_first(uint32_t most_pixels) {
    decoder_->imageSizeLimit = std::min<uint32_t>(most_pixels, AVIF_DEFAULT_IMAGE_SIZE_LIMIT);
    check(avifDecoderNextImage(decoder_.get()), "data");
  }
  void convert(avifRGBImage& rgb) { check(avifImageYUVToRGB(&image(), &rgb), "data"); }

  const avifImage& image() const { return *decoder_->image; }
  bool has_alpha() const { return decoder_->alphaPresent; }
  bool is_gray() const { return image().yuvFormat == AVIF_PIXEL_FORMAT_YUV400; }
  int channels() const { return (is_gray() ? 1 : 3) + (has_alpha() ? 1 : 0); }
  DType dtype() const { return image().depth > 8 ? DType::kUint16 : DType::kUint8; }

  // The orientation as EXIF numbers it. The picture is rotated first, and then mirrored.
  int orientation() const {
    const avifImage& i = image();
    const uint32_t angle = i.transformFlags & AVIF_TRANSFORM_IROT ? i.irot.angle & 3u : 0;
    const bool is_mirrored = i.transformFlags & AVIF_TRANSFORM_IMIR;
    constexpr int kTurned[] = {1, 8, 3, 6};
    constexpr int kMirrored[2][4] = {{4, 5, 2, 7}, {2, 7, 4, 5}};
    return is_mirrored ? kMirrored[i.imir.mode & 1][angle] : kTurned[angle];
  }

 private:
  void check(avifResult result, const char* part) const {
    if (result == AVIF_RESULT_OK) return;
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
      throw BudgetError("the system has no memory left to decode an AVIF image");
    const std::string detail = decoder_->diag.error;
    if (result == AVIF_RESULT_TRUNCATED_DATA || detail.find("truncated") != detail.npos)
      throw SampleError("AVIF data ends prematurely", static_cast<int64_t>(file_.size()));
    throw SampleError(std::string("AVIF ") + part + " is damaged: " + avifResultToString(result) +
                      (detail.empty() ? "" : ", " + detail));
  }

  EncodedSpan file_;
  std::unique_ptr<avifDecoder, decltype(&avifDecoderDestroy)> decoder_{avifDecoderCreate(),
                                                                       avifDecoderDestroy};
};

// What the decoder takes itself: its tables, and YUV, twice where it adds grain or joins cells.
size_t own_memory(const Decoder& d, EncodedSpan file) {
  constexpr uint64_t kForEachDecoder = 768 << 10;
  const avifImage& i = d.image();
  const uint64_t pixels = uint64_t{i.width + kMostBeyond} * (i.height + kMostBeyond);
  avifPixelFormatInfo format;
  avifGetPixelFormatInfo(i.yuvFormat, &format);
  const uint64_t chroma =
      format.monochrome ? 0 : 2 * pixels >> (format.chromaShiftX + format.chromaShiftY);
  const uint64_t samples = pixels + chroma + (d.has_alpha() ? pixels : 0);
  return (2 + count_cells(file)) * kForEachDecoder + samples * 2 * (i.depth > 8 ? 2 : 1) + pixels;
}

class Reader {
 public:
  Reader(const EncodedImage& image, const View& stored, Arena& scratch)
      : image_(image),
        opened_(
            Opened<Decoder>::take(image, [&] { return std::make_unique<Decoder>(image.bytes); })),
        decoder_(*opened_),
        stored_(stored),
        scratch_(scratch),
        channels_(decoder_.channels()),
        out_(image.options.output_type, channels_, decoder_.dtype(), stored, scratch) {
    scratch.charge(own_memory(decoder_, image.bytes));
  }

  void read(bool is_judged) {
    decode_whole(image_, is_judged, out_, [&] { decode(); });
  }

 private:
  static uint32_t size_limit(const ImageInfo& info) {
    const int64_t pixels = (info.stored_width + kMostBeyond) * (info.stored_height + kMostBeyond);
    return static_cast<uint32_t>(std::min<int64_t>(pixels, UINT32_MAX));
  }

  void decode() {
    decoder_.decode_first(size_limit(image_.info));
    const avifImage& i = decoder_.image();
    if (i.width != image_.info.stored_width || i.height != image_.info.stored_height ||
        decoder_.channels() != channels_ || decoder_.dtype() != image_.info.dtype)
      throw SampleError("AVIF data is damaged: it is not what the header says");
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, &i);
    // Without room for alpha, libavif would multiply it into the colours.
    rgb.format = decoder_.has_alpha() ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    const int64_t row = int64_t{i.width} * avifRGBImagePixelSize(&rgb);
    const bool is_direct = takes_rows();
    rgb.rowBytes = static_cast<uint32_t>(is_direct ? stored_.strides[0] : row);
    rgb.pixels = is_direct ? stored_.as<uint8_t>()
                           : scratch_.array<uint8_t>(static_cast<size_t>(row * i.height));
    decoder_.convert(rgb);
    if (is_direct) return;
    for (int64_t y = out_.begin_row(); y < out_.end_row(); ++y) {
      uint8_t* const pixels = rgb.pixels + y * row;
      if (i.depth > 8) prepare(reinterpret_cast<uint16_t*>(pixels), i.width, i.depth);
      else prepare(pixels, i.width, i.depth);
      out_.put(y, pixels);
    }
  }

  // Whether libavif can write into the output.
  bool takes_rows() const {
    const ImageType type = image_.options.output_type;
    return (type == ImageType::kRGB || type == ImageType::kAny) && stored_.is_whole() &&
           image_.info.dtype == DType::kUint8 && !decoder_.is_gray() &&
           stored_.shape[2] == channels_ && stored_.strides[2] == 1 &&
           stored_.strides[1] == channels_ && stored_.strides[0] >= stored_.shape[1] * channels_ &&
           stored_.strides[0] <= INT32_MAX;
  }

  // Makes 16 bits of fewer, and of gray pixels, which libavif writes as RGB, one channel.
  template <class T>
  void prepare(T* row, int64_t pixels, uint32_t depth) const {
    const int64_t each = decoder_.has_alpha() ? 4 : 3;
    if (decoder_.is_gray())
      for (int64_t i = 0; i < pixels; ++i) {
        row[i * channels_] = row[i * each];
        if (channels_ == 2) row[2 * i + 1] = row[i * each + 3];
      }
    if constexpr (sizeof(T) == 2) {
      const uint32_t most = (1u << depth) - 1;
      for (int64_t i = 0; i < pixels * channels_; ++i)
        row[i] = static_cast<T>(rescaled(row[i], most, 65535));
    }
  }

  const EncodedImage& image_;
  const std::unique_ptr<Decoder> opened_;
  Decoder& decoder_;
  const View& stored_;
  Arena& scratch_;
  const int channels_;
  PixelWriter out_;
};

class AvifCodec final : public StoredCodec {
 public:
  const char* name() const override { return "AVIF"; }
  bool recognises(EncodedSpan b) const override {
    const avifROData data{b.data(), b.size()};
    return avifPeekCompatibleFileType(&data);
  }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    auto opened = std::make_unique<Decoder>(bytes);
    const Decoder& d = *opened;
    ImageInfo info;
    info.stored_height = d.image().height;
    info.stored_width = d.image().width;
    info.channels = d.channels();
    info.dtype = d.dtype();
    info.orientation = d.orientation();
    info.header = Opened(std::move(opened));
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    Reader(image, part.out, scratch).read(part.judged_rows > 0);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::AvifCodec)
