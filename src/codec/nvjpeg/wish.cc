// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/wish.h"

#include <algorithm>
#include <climits>

#include "base/error.h"
#include "base/hash.h"
#include "codec/jpeg/header.h"
#include "codec/jpeg/reader.h"

namespace stoker::nvjpeg {

namespace {

// True when the data ends with an end marker, behind which there may be zeros that writers pad
// with. Otherwise the data may be cut off.
bool has_end(EncodedSpan bytes) {
  while (!bytes.empty() && bytes.back() == 0) bytes = bytes.first(bytes.size() - 1);
  return bytes.size() >= 2 && bytes[bytes.size() - 2] == 0xFF && bytes.back() == 0xD9;
}

bool is_for_device(const DecodeRequest& r) {
  const DecodeOptions& o = r.options;
  return !o.verify && !o.tolerate_corrupt && o.output_type != ImageType::kYCbCr &&
         r.type.dtype == DType::kUint8 && r.window.shape().volume() > 0 && has_end(r.bytes);
}

// Throws SampleError.
std::optional<Wish> wish_of_header(const DecodeRequest& r) {
  if (r.options.adjust_orientation && read_jpeg_header(r.bytes).orientation != 1) return {};
  JpegReader reader(r.bytes, false);
  reader.read_header();
  const J_COLOR_SPACE stored = reader.stored_color();
  if (stored != JCS_GRAYSCALE && stored != JCS_YCbCr) return {};
  const Shape& whole = r.type.shape;
  if (whole[0] != reader.height() || whole[1] != reader.width() || whole[0] > INT_MAX / 4 ||
      whole[1] > INT_MAX / 4)
    return {};
  const Window& w = r.window;
  auto in_int = [](int64_t x) { return static_cast<int>(x); };
  Wish wish;
  wish.channels = in_int(whole[2]);
  if (w.end[2] - w.begin[2] != wish.channels) return {};
  wish.format = wish.channels == 1                         ? kY
                : r.options.output_type == ImageType::kBGR ? kBgrInterleaved
                                                           : kRgbInterleaved;
  wish.height = in_int(whole[0]);
  wish.width = in_int(whole[1]);
  wish.y = in_int(w.begin[0]);
  wish.x = in_int(w.begin[1]);
  wish.rows = in_int(w.end[0] - w.begin[0]);
  wish.columns = in_int(w.end[1] - w.begin[1]);
  wish.has_chroma = stored != JCS_GRAYSCALE;
  wish.is_progressive = reader.is_progressive();
  return wish;
}

}  // namespace

std::optional<Wish> wish_of(const DecodeRequest& request) {
  const bool is_jpeg =
      request.bytes.size() > 3 && request.bytes[0] == 0xFF && request.bytes[1] == 0xD8;
  if (!is_jpeg || !is_for_device(request)) return {};
  try {
    return wish_of_header(request);
  } catch (const SampleError&) {  // the CPU decodes it and reports the error
    return {};
  }
}

bool is_in_share(EncodedSpan bytes, float share) {
  constexpr size_t kLast = 64;  // entropy-coded data differs between any two pictures
  const EncodedSpan end = bytes.last(std::min(kLast, bytes.size()));
  const uint64_t h = mix(hash64({reinterpret_cast<const char*>(end.data()), end.size()}),
                         static_cast<uint64_t>(bytes.size()));
  return static_cast<double>(h >> 11) * 0x1p-53 < static_cast<double>(share);
}

}  // namespace stoker::nvjpeg
