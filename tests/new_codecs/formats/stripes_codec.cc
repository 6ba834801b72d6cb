// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of Stripes, by our own code.
// Endings: .stripes .strp
// "STRIPES[1-9]" at byte 0: a Stripes image
//
// A file is its first bytes, whose digit is the number of rows, and a byte for each row: its gray
// level. A row has two pixels.
#include <algorithm>

#include "base/error.h"
#include "base/picture_formats.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

constexpr size_t kHeader = 8;
constexpr int64_t kWidth = 2;

class StripesCodec final : public StoredCodec {
 public:
  const char* name() const override { return "Stripes"; }
  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    ImageInfo info;
    info.stored_height = bytes[kHeader - 1] - '0';
    info.stored_width = kWidth;
    info.channels = 1;
    info.holds_numbers = true;
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    PixelWriter out(image.options.output_type, 1, DType::kUint8, part.out, scratch);
    out.clear();
    for (int64_t y = 0; y < std::max(part.judged_rows, out.end_row()); ++y) {
      const size_t at = kHeader + static_cast<size_t>(y);
      if (at >= image.bytes.size()) {
        if (y < part.judged_rows && !image.options.tolerate_corrupt)
          throw SampleError("Stripes data ends prematurely", static_cast<int64_t>(at));
        continue;
      }
      const uint8_t row[kWidth] = {image.bytes[at], image.bytes[at]};
      if (out.wants_row(y)) out.put(y, row, {0, 1}, kWidth);
    }
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::StripesCodec)
