// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of JPEG, by libjpeg (libjpeg62-turbo-dev).
// Endings: .jpg .jpeg .jpe .jfif
// "\xFF\xD8\xFF" at byte 0: a JPEG image
#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/picture_formats.h"
#include "codec/codec.h"
#include "codec/jpeg/header.h"
#include "codec/jpeg/lossless.h"
#include "codec/jpeg/reader.h"
#include "codec/orientation.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/rows.h"

namespace stoker {
namespace {

// Whether libjpeg can write its rows directly into `out`, a view in stored coordinates, with the
// columns that it adds on both sides.
bool takes_rows(const View& out, const JpegReader& reader, ConvertRow convert, int64_t row_room) {
  const int64_t before = out.origin[1] - reader.first_column();
  const int64_t behind = reader.columns() - before - out.shape[1];
  return !convert && std::max(before, behind) * reader.channels() <= row_room &&
         has_plain_rows(out);
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
    scatter_rows(lines + skipped * reader.channels(), pitch, out, y, count);
  }
}

class JpegCodec final : public ImageCodec {
 public:
  const char* name() const override { return "JPEG"; }

  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

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
    if (decode_plain_jpeg(image, stored, judged_rows, scratch)) return;
    JpegReader reader(image.bytes, options.tolerate_corrupt);
    reader.read_header();
    if (reader.height() != image.info.stored_height || reader.width() != image.info.stored_width)
      throw SampleError("JPEG header is damaged: it holds two different sizes");
    reader.judge(judged_rows);
    const ColorPlan plan = plan_color(reader.stored_color(), options.output_type);
    reader.start(plan.decoded, image.jpeg.use_fast_idct, stored.origin[1],
                 stored.origin[1] + stored.shape[1], scratch);
    uint8_t* lines =
        scratch.array<uint8_t>(static_cast<size_t>(kRows * reader.columns() * reader.channels()));
    reader.skip(stored.origin[0], lines);
    read_window(reader, plan.convert, stored, lines, row_room);
    // Most random bits decode to something, so damage may show only by data behind the picture.
    reader.finish(lines);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::JpegCodec)
