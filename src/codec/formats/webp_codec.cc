// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of WebP, by libwebp (libwebp-dev).
// Endings: .webp
// "WEBPVP8" at byte 8: a WebP image
//
// Lossy and lossless, with and without alpha. Of an animation, the first frame on its canvas.
#include <webp/decode.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "codec/chunks.h"
#include "codec/exif.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

// A file is a row of chunks (codec/chunks.h) within one of RIFF:
//
//   "RIFF" size:4 "WEBP" | "VP8 " or "VP8L": a picture
//   "RIFF" size:4 "WEBP" | "VP8X" | others, such as "VP8 ", "EXIF", "XMP " and, for each
//                          frame of an animation, "ANMF" size:4 x:3 y:3 and 10 bytes more | chunks
//
// x and y are half of what they mean.
constexpr size_t kRiff = 12;  // where the first chunk begins

bool has_type(EncodedSpan b, size_t at, std::string_view type) {
  return at + 4 <= b.size() &&
         std::equal(type.begin(), type.end(), b.begin() + static_cast<long>(at));
}

[[noreturn]] void fail(const char* what, EncodedSpan file, bool is_cut) {
  throw SampleError(is_cut ? std::string("WebP data ends prematurely")
                           : std::string("WebP data is damaged: ") + what,
                    static_cast<int64_t>(is_cut ? file.size() : 0));
}

struct Header {
  int64_t width = 0, height = 0;  // of the canvas
  int64_t x = 0, y = 0, frame_width = 0, frame_height = 0;
  bool has_alpha = false, is_lossless = false, is_animated = false;
  EncodedSpan frame;  // what libwebp decodes
  int orientation = 1;

  bool covers_all() const { return frame_width == width && frame_height == height; }
};

// Only files that begin with VP8X hold more than one picture's data.
void read_extended(EncodedSpan file, Header& h) {
  Exif exif;
  Chunks chunks(file, kRiff, kRiffChunk);
  for (Chunk c; chunks.next(c);) {
    if (c.type == "EXIF") exif.add_tiff(c.data);
    if (c.type == "XMP ")
      exif.add_xmp({reinterpret_cast<const char*>(c.data.data()), c.data.size()});
    if (c.type != "ANMF" || !h.frame.empty() || c.data.size() < 16) continue;
    ForeignBytes frame(c.data, ByteOrder::kLittle);
    h.x = 2 * int64_t{frame.u24()};
    h.y = 2 * int64_t{frame.u24()};
    h.frame = c.data.subspan(16);
  }
  h.orientation = exif.orientation();
}

WebPBitstreamFeatures features_of(EncodedSpan data, EncodedSpan file) {
  WebPBitstreamFeatures f;
  const VP8StatusCode status = WebPGetFeatures(data.data(), data.size(), &f);
  if (status != VP8_STATUS_OK)
    fail("its header is none", file, status == VP8_STATUS_NOT_ENOUGH_DATA);
  return f;
}

Header read_header(EncodedSpan file) {
  Header h;
  WebPBitstreamFeatures f = features_of(file, file);
  h.width = f.width;
  h.height = f.height;
  h.has_alpha = f.has_alpha;
  h.is_animated = f.has_animation;
  if (has_type(file, kRiff, "VP8X")) read_extended(file, h);
  if (h.is_animated) {
    if (h.frame.empty()) fail("it has no frame", file, false);
    f = features_of(h.frame, file);
  } else {
    h.frame = file;
  }
  h.frame_width = f.width;
  h.frame_height = f.height;
  h.is_lossless = f.format != 1;
  if (h.x + f.width > h.width || h.y + f.height > h.height)
    fail("a frame does not lie on its canvas", file, false);
  return h;
}

// Rows and columns of the frame.
struct Region {
  int64_t y, x, end_y, end_x;

  int64_t width() const { return end_x - x; }
  int64_t height() const { return end_y - y; }
};

// Note [Borders of WebP]
// libwebp interpolates chroma from the neighbours of a pixel, and at the borders of what it
// decodes it has none. So a window is decoded with a margin, and even borders as it wants them.
Region with_margin(const Region& r, const Header& h) {
  if (h.is_lossless) return r;
  return {std::max<int64_t>((r.y & ~1) - 2, 0), std::max<int64_t>((r.x & ~1) - 2, 0),
          std::min(r.end_y + 2 + (r.end_y & 1), h.frame_height),
          std::min(r.end_x + 2 + (r.end_x & 1), h.frame_width)};
}

class Reader {
 public:
  Reader(const EncodedImage& image, const Header& h, const View& stored, Arena& scratch)
      : image_(image),
        h_(h),
        stored_(stored),
        scratch_(scratch),
        channels_(image.options.output_type == ImageType::kAny && h.has_alpha ? 4 : 3),
        out_(image.options.output_type, channels_, DType::kUint8, stored, scratch) {
    // What libwebp takes by itself: rows, and of lossless data, as alpha is, all pixels.
    const int64_t pixels = h.frame_width * h.frame_height;
    scratch.charge(static_cast<size_t>((h.is_lossless ? 4
                                        : h.has_alpha ? 2
                                                      : 0) *
                                           pixels +
                                       128 * h.frame_width + (1 << 18)));
  }

  void read(int64_t judged_rows) {
    const bool tolerates = image_.options.tolerate_corrupt;
    if (tolerates || !h_.covers_all()) out_.clear();
    const int64_t judged = std::clamp<int64_t>(judged_rows - h_.y, 0, h_.frame_height);
    const int64_t wanted = std::clamp<int64_t>(out_.end_row() - h_.y, 0, h_.frame_height);
    // Where damage is tolerated, what is wanted is as it is in the whole picture.
    const int64_t end = tolerates ? h_.frame_height : std::max(judged, wanted);
    if (decode(end) == VP8_STATUS_OK) return;
    if (tolerates) {
      out_.clear();
      return decode_what_is_there();
    }
    // If it fails because of what is not judged, that alone is left out.
    if (judged < wanted && decode(judged) == VP8_STATUS_OK) return;
    if (judged > 0) fail("libwebp cannot decode it", image_.bytes, is_cut_);
  }

 private:
  // Decodes up to a row of the frame, and writes what is wanted of it.
  VP8StatusCode decode(int64_t end_row) {
    if (end_row == 0) return VP8_STATUS_OK;
    Region r;
    r.x = std::clamp<int64_t>(stored_.origin[1] - h_.x, 0, h_.frame_width - 1);
    r.end_x = std::clamp<int64_t>(out_.end_column() - h_.x, r.x + 1, h_.frame_width);
    r.y = std::clamp<int64_t>(stored_.origin[0] - h_.y, 0, end_row - 1);
    r.end_y = end_row;
    const Region all = with_margin(r, h_);
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return VP8_STATUS_INVALID_PARAM;
    config.options.use_cropping = 1;
    config.options.crop_left = static_cast<int>(all.x);
    config.options.crop_top = static_cast<int>(all.y);
    config.options.crop_width = static_cast<int>(all.width());
    config.options.crop_height = static_cast<int>(all.height());
    config.output.colorspace = channels_ == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    WebPRGBABuffer& buffer = config.output.u.RGBA;
    const bool is_direct = takes_rows(all);
    const int64_t stride = is_direct ? stored_.strides[0] : all.width() * channels_;
    if (!is_direct) lines_ = scratch_.array<uint8_t>(static_cast<size_t>(stride * all.height()));
    buffer.rgba = is_direct ? stored_.as<uint8_t>() : lines_;
    buffer.stride = static_cast<int>(stride);
    buffer.size = static_cast<size_t>(stride * (all.height() - 1) + all.width() * channels_);
    const VP8StatusCode status = WebPDecode(h_.frame.data(), h_.frame.size(), &config);
    is_cut_ = status == VP8_STATUS_NOT_ENOUGH_DATA;
    if (status == VP8_STATUS_OK && !is_direct) put(lines_, stride, all);
    return status;
  }

  // Whether libwebp can write into the output.
  bool takes_rows(const Region& all) const {
    const ImageType type = image_.options.output_type;
    return (type == ImageType::kRGB || type == ImageType::kAny) && stored_.shape[2] == channels_ &&
           h_.covers_all() && stored_.strides[2] == 1 && stored_.strides[1] == channels_ &&
           stored_.strides[0] >= all.width() * channels_ && stored_.strides[0] <= INT32_MAX &&
           all.y == stored_.origin[0] && all.end_y == out_.end_row() &&
           all.x == stored_.origin[1] && all.end_x == out_.end_column();
  }

  void put(const uint8_t* lines, int64_t stride, const Region& all) {
    for (int64_t y = all.y; y < all.end_y; ++y)
      if (out_.wants_row(h_.y + y))
        out_.put(h_.y + y, lines + (y - all.y) * stride, {h_.x + all.x, 1}, all.width());
  }

  // Decodes all rows before the damage, without a window, so that all windows get the same rows.
  void decode_what_is_there() {
    const int64_t stride = h_.frame_width * channels_, size = stride * h_.frame_height;
    uint8_t* const lines = scratch_.array<uint8_t>(static_cast<size_t>(size));
    const std::unique_ptr<WebPIDecoder, void (*)(WebPIDecoder*)> decoder(
        WebPINewRGB(channels_ == 4 ? MODE_RGBA : MODE_RGB, lines, static_cast<size_t>(size),
                    static_cast<int>(stride)),
        WebPIDelete);
    if (!decoder) throw BudgetError("the system has no memory left to decode a WebP image");
    WebPIAppend(decoder.get(), h_.frame.data(), h_.frame.size());
    int rows = 0;
    if (WebPIDecGetRGB(decoder.get(), &rows, nullptr, nullptr, nullptr))
      put(lines, stride, {0, 0, rows, h_.frame_width});
  }

  const EncodedImage& image_;
  const Header& h_;
  const View& stored_;
  Arena& scratch_;
  const int channels_;
  PixelWriter out_;
  uint8_t* lines_ = nullptr;
  bool is_cut_ = false;
};

class WebpCodec final : public StoredCodec {
 public:
  const char* name() const override { return "WebP"; }
  bool recognises(EncodedSpan b) const override {
    return has_type(b, 0, "RIFF") && has_type(b, 8, "WEBP") && has_type(b, kRiff, "VP8");
  }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    const Header h = read_header(bytes);
    ImageInfo info = stored_info(h);
    info.channels = h.has_alpha ? 4 : 3;
    info.orientation = h.orientation;
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    const auto& h = header_of<Header>(image);
    Reader(image, h, part.out, scratch).read(part.judged_rows);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::WebpCodec)
