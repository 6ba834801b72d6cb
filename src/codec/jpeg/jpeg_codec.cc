// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of JPEG, by libjpeg (libjpeg62-turbo-dev).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "codec/codec.h"
#include "codec/color.h"
#include "codec/jpeg/header.h"
#include "codec/jpeg/lossless.h"
#include "codec/jpeg/reader.h"
#include "codec/orientation.h"

namespace stoker {
namespace {

constexpr int kRows = 16;  // rows read at once, so that a turned picture is written in runs

// Turns a row from libjpeg into what was asked for, in place. The row never gets more channels.
using ConvertRow = void (*)(uint8_t* row, int64_t pixels);

void rgb_to_ycbcr(uint8_t* row, int64_t pixels) {
  for (uint8_t* end = row + 3 * pixels; row != end; row += 3) {
    const Pixel3 p = ycbcr_of_rgb(row[0], row[1], row[2]);
    row[0] = p.a, row[1] = p.b, row[2] = p.c;
  }
}

void invert_cmyk(uint8_t* row, int64_t pixels) {
  for (int64_t i = 0; i < 4 * pixels; ++i) row[i] = static_cast<uint8_t>(255 - row[i]);
}

template <ImageType kType>
void convert_cmyk(uint8_t* row, int64_t pixels) {
  uint8_t* to = row;
  for (const uint8_t* from = row; from != row + 4 * pixels; from += 4) {
    Pixel3 p = rgb_of_inverted_cmyk(from[0], from[1], from[2], from[3]);
    if constexpr (kType == ImageType::kGray) {
      *to++ = luma(p.a, p.b, p.c);
      continue;
    }
    if constexpr (kType == ImageType::kBGR) std::swap(p.a, p.c);
    if constexpr (kType == ImageType::kYCbCr) p = ycbcr_of_rgb(p.a, p.b, p.c);
    to[0] = p.a, to[1] = p.b, to[2] = p.c;
    to += 3;
  }
}

ConvertRow cmyk_converter(ImageType type) {
  switch (type) {
    case ImageType::kRGB: return convert_cmyk<ImageType::kRGB>;
    case ImageType::kBGR: return convert_cmyk<ImageType::kBGR>;
    case ImageType::kGray: return convert_cmyk<ImageType::kGray>;
    case ImageType::kYCbCr: return convert_cmyk<ImageType::kYCbCr>;
    case ImageType::kAny: break;
  }
  return invert_cmyk;
}

struct ColorPlan {
  J_COLOR_SPACE from_libjpeg;
  ConvertRow convert = nullptr;
};

// CMYK is read as Adobe stores it, inverted, with or without a marker that says so, as every other
// reader does.
ColorPlan plan_color(J_COLOR_SPACE stored, ImageType type) {
  if (stored == JCS_CMYK || stored == JCS_YCCK) return {JCS_CMYK, cmyk_converter(type)};
  if (stored == JCS_UNKNOWN) return {JCS_UNKNOWN};
  switch (type) {
    case ImageType::kRGB: return {JCS_RGB};
    case ImageType::kBGR: return {JCS_EXT_BGR};
    case ImageType::kGray: return {JCS_GRAYSCALE};
    case ImageType::kYCbCr: return {JCS_RGB, rgb_to_ycbcr};
    case ImageType::kAny: break;
  }
  return {stored == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB};
}

template <int kChannels>
void put(const uint8_t* from, uint8_t* to, int64_t channel_stride) {
  for (int c = 0; c < kChannels; ++c) to[c * channel_stride] = from[c];
}

// Writes `count` rows of pixels to `out`, from its row `y` on. `lines` is the first wanted pixel of
// the first row; rows are `pitch` bytes apart.
template <int kChannels>
void scatter(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count) {
  const Shape& stride = out.strides;
  uint8_t* to = out.as<uint8_t>() + y * stride[0];
  const int64_t width = out.shape[1];
  if (stride[1] == kChannels && (stride[2] == 1 || kChannels == 1)) {
    for (int64_t r = 0; r < count; ++r)
      std::memcpy(to + r * stride[0], lines + r * pitch, static_cast<size_t>(width * kChannels));
    return;
  }
  // The inner loop runs along the axis whose neighbours are closer in memory.
  if (std::abs(stride[0]) < std::abs(stride[1])) {
    for (int64_t x = 0; x < width; ++x)
      for (int64_t r = 0; r < count; ++r)
        put<kChannels>(lines + r * pitch + x * kChannels, to + r * stride[0] + x * stride[1],
                       stride[2]);
  } else {
    for (int64_t r = 0; r < count; ++r)
      for (int64_t x = 0; x < width; ++x)
        put<kChannels>(lines + r * pitch + x * kChannels, to + r * stride[0] + x * stride[1],
                       stride[2]);
  }
}

// Files with other numbers of components are rare, so this need not be fast.
void scatter_many(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count) {
  const int64_t channels = out.shape[2];
  for (int64_t r = 0; r < count; ++r)
    for (int64_t x = 0; x < out.shape[1]; ++x)
      for (int64_t c = 0; c < channels; ++c)
        out.as<uint8_t>()[(y + r) * out.strides[0] + x * out.strides[1] + c * out.strides[2]] =
            lines[r * pitch + x * channels + c];
}

void scatter_any(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count) {
  switch (out.shape[2]) {
    case 1: return scatter<1>(lines, pitch, out, y, count);
    case 3: return scatter<3>(lines, pitch, out, y, count);
    case 4: return scatter<4>(lines, pitch, out, y, count);
    default: return scatter_many(lines, pitch, out, y, count);
  }
}

// Whether libjpeg can write its rows directly into `out`, a view in stored coordinates, with the
// columns that it adds on both sides.
bool takes_rows(const View& out, const JpegReader& reader, ConvertRow convert, int64_t row_room) {
  const int64_t before = out.origin[1] - reader.first_column();
  const int64_t behind = reader.columns() - before - out.shape[1];
  return !convert && std::max(before, behind) * reader.channels() <= row_room &&
         out.strides[1] == out.shape[2] && (out.strides[2] == 1 || out.shape[2] == 1);
}

void read_window(JpegReader& reader, ConvertRow convert, const View& out, uint8_t* lines,
                 int64_t row_room) {
  const bool direct = takes_rows(out, reader, convert, row_room);
  const int64_t pitch = reader.columns() * reader.channels();
  const int64_t skipped = out.origin[1] - reader.first_column();
  uint8_t* const first = out.as<uint8_t>() - skipped * reader.channels();
  for (int64_t y = 0; y < out.shape[0]; y += kRows) {
    const int64_t count = std::min<int64_t>(kRows, out.shape[0] - y);
    uint8_t* rows[kRows];
    for (int64_t r = 0; r < count; ++r)
      rows[r] = direct ? first + (y + r) * out.strides[0] : lines + r * pitch;
    reader.read({rows, static_cast<size_t>(count)});
    if (direct) continue;
    for (int64_t r = 0; convert && r < count; ++r)
      convert(rows[r] + skipped * reader.channels(), out.shape[1]);
    // A converted row has fewer channels, but still begins at the first wanted pixel.
    scatter_any(lines + skipped * reader.channels(), pitch, out, y, count);
  }
}

class JpegCodec final : public ImageCodec {
 public:
  const char* name() const override { return "JPEG"; }

  bool recognises(EncodedSpan b) const override {
    return b.size() >= 3 && b[0] == 0xFF && b[1] == 0xD8 && b[2] == 0xFF;
  }

  ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const override {
    const JpegHeader header = read_jpeg_header(bytes);
    ImageInfo info;
    info.format = name();
    info.stored_height = header.height;
    info.stored_width = header.width;
    info.channels = header.components;
    info.is_ycbcr = header.is_ycbcr;
    info.is_progressive = header.is_progressive;
    info.is_lossless = header.is_lossless;
    if (header.is_lossless) {
      info.header = header;
      info.dtype = lossless_dtype(header);
      if (header.components > kMostLosslessComponents)
        throw SampleError("lossless JPEG of " + std::to_string(header.components) +
                          " components is not supported");
    }
    info.orientation = header.orientation;
    set_displayed(info, options);
    if (options.output_type != ImageType::kAny && info.channels != 1 && info.channels != 3 &&
        info.channels != 4)
      throw SampleError("JPEG of " + std::to_string(info.channels) +
                        " components, whose colours nothing tells: only the output type that keeps "
                        "them as they are is possible");
    return info;
  }

  void decode(const EncodedImage& image, const View& out, const Window& judged, Arena& scratch,
              int64_t row_room) const override {
    const StoredPart part(image, out, judged);
    // In a turned picture, the pixels beside a row lie above or below a column.
    if (part.orientation != 1) row_room = 0;
    try {
      if (image.info.is_lossless) read_lossless(image, part, scratch);
      else read(image, part.out, part.judged_rows, scratch, row_room);
    } catch (const SampleError&) {
      if (part.judged_rows > 0) throw;
    }
  }

 private:
  static void read_lossless(const EncodedImage& image, const StoredPart& part, Arena& scratch) {
    if (part.is_empty()) return;
    read_lossless_jpeg(image, header_of<JpegHeader>(image), part.out, part.judged_rows, scratch);
  }

  // Fills a view in stored coordinates.
  static void read(const EncodedImage& image, View stored, int64_t judged_rows, Arena& scratch,
                   int64_t row_room) {
    const DecodeOptions& options = image.options;
    if (stored.shape.volume() == 0) {
      if (judged_rows == 0) return;
      // The rest of the data is judged by decoding one column.
      stored.shape[0] = stored.origin[0] = stored.origin[1] = 0;
      stored.shape[1] = 1;
    }
    JpegReader reader(image.bytes, options.tolerate_corrupt);
    reader.read_header();
    if (reader.height() != image.info.stored_height || reader.width() != image.info.stored_width)
      throw SampleError("JPEG header is damaged: it holds two different sizes");
    reader.judge(judged_rows);
    const ColorPlan plan = plan_color(reader.stored_color(), options.output_type);
    reader.start(plan.from_libjpeg, image.jpeg.use_fast_idct, stored.origin[1],
                 stored.origin[1] + stored.shape[1], scratch);
    uint8_t* lines =
        scratch.array<uint8_t>(static_cast<size_t>(kRows * reader.columns() * reader.channels()));
    reader.skip(stored.origin[0], lines);
    read_window(reader, plan.convert, stored, lines, row_room);
    // Most random bits decode to something, so damage may show only when the data does not end with
    // the picture.
    reader.finish(lines);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::JpegCodec)
