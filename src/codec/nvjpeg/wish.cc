// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/wish.h"

#include <algorithm>
#include <climits>
#include <string_view>

#include "base/hash.h"

namespace stoker::nvjpeg {

namespace {

// Whether an end marker ends the data but for zeros that writers pad with. Else it may be cut off.
bool has_end(EncodedSpan bytes) {
  while (!bytes.empty() && bytes.back() == 0) bytes = bytes.first(bytes.size() - 1);
  return bytes.size() >= 2 && bytes[bytes.size() - 2] == 0xFF && bytes.back() == 0xD9;
}

bool is_for_device(const DecodeRequest& r) {
  const DecodeOptions& o = r.image.options;
  const ImageInfo& info = r.image.info;
  return info.format == std::string_view("JPEG") && !info.is_lossless &&
         info.dtype == DType::kUint8 && (info.channels == 1 || info.is_ycbcr) &&
         info.height <= INT_MAX / 4 && info.width <= INT_MAX / 4 &&
         !(o.adjust_orientation && info.orientation != 1) && !o.verify && !o.tolerate_corrupt &&
         o.output_type != ImageType::kYCbCr && r.window.shape().volume() > 0 &&
         has_end(r.image.bytes);
}

}  // namespace

std::optional<Wish> wish_of(const DecodeRequest& r) {
  if (!is_for_device(r)) return {};
  const Shape whole = r.image.type().shape;
  const Window& w = r.window;
  auto in_int = [](int64_t x) { return static_cast<int>(x); };
  Wish wish;
  wish.channels = in_int(whole[2]);
  if (w.end[2] - w.begin[2] != wish.channels) return {};
  wish.format = wish.channels == 1                               ? kY
                : r.image.options.output_type == ImageType::kBGR ? kBgrInterleaved
                                                                 : kRgbInterleaved;
  wish.height = in_int(whole[0]);
  wish.width = in_int(whole[1]);
  wish.y = in_int(w.begin[0]);
  wish.x = in_int(w.begin[1]);
  wish.rows = in_int(w.end[0] - w.begin[0]);
  wish.columns = in_int(w.end[1] - w.begin[1]);
  wish.has_chroma = r.image.info.is_ycbcr;
  wish.is_progressive = r.image.info.is_progressive;
  return wish;
}

bool is_in_share(EncodedSpan bytes, float share) {
  constexpr size_t kLast = 64;  // entropy-coded data differs between any two pictures
  const EncodedSpan end = bytes.last(std::min(kLast, bytes.size()));
  const uint64_t h = mix(hash64({reinterpret_cast<const char*>(end.data()), end.size()}),
                         static_cast<uint64_t>(bytes.size()));
  return static_cast<double>(h >> 11) * 0x1p-53 < static_cast<double>(share);
}

}  // namespace stoker::nvjpeg
