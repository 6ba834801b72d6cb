// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoded images become pixels: what every image format offers, and which format some bytes are.
// A new format is one new file with an ImageCodec and one entry in the table of codec.cc.
#pragma once
#include <cstdint>
#include <span>

#include "base/types.h"
#include "base/view.h"
#include "memory/arena.h"

namespace stoker {

using EncodedSpan = std::span<const uint8_t>;

// What decode() delivers. kYCbCr is ITU-R BT.601 (16..235, 16..240) made from RGB. kAny keeps what
// is stored: 1 channel for gray, RGB for colour (also where the file holds YCbCr), 4 for CMYK (0 =
// no ink).
enum class ImageType : uint8_t { kRGB, kBGR, kGray, kYCbCr, kAny };

struct DecodeOptions {
  ImageType output_type = ImageType::kRGB;
  bool adjust_orientation = true;          // turn the picture as its EXIF orientation says
  bool use_fast_idct = false;  // JPEG: a faster, coarser inverse transform; other pixels
  // Deliver what can be decoded of damaged data; damaged headers stay errors.
  bool tolerate_corrupt = false;
  // Judge all of the data; else what the window needs, to the very end if it has the last row.
  bool verify = false;
  // A picture that claims more is refused before any memory is taken for it.
  int64_t max_pixels = int64_t{1} << 28;

  // For a decoder on a device only; codecs here upsample smoothly and have one way to decode.
  bool smooth_upsampling = true;  // of chroma
  float hardware_share = 0.65f;  // of the pictures, for an engine that does nothing else
  int64_t most_host_huffman = 1'000'000;  // pixels; codes of larger pictures are read on the device
};

struct ImageInfo {
  const char* format = "";  // "JPEG"
  int64_t height = 0, width = 0;  // as decode() delivers them
  int64_t stored_height = 0, stored_width = 0;  // before the orientation is applied
  int channels = 0;  // as stored
  int orientation = 1;  // 1..8 as in EXIF, also when it is not applied
  DType dtype = DType::kUint8;  // that decode() delivers
};

// The whole picture as decode() delivers it, layout HWC.
TensorType decoded_type(const ImageInfo& info, ImageType type);

// One image format. Without state; thread-safe.
class ImageCodec {
 public:
  virtual ~ImageCodec() = default;
  virtual const char* name() const = 0;
  // Looks at the first bytes only.
  virtual bool recognises(EncodedSpan bytes) const = 0;
  // Reads the header; the bytes may end behind it. Throws SampleError where the picture cannot be
  // decoded: damaged, of a kind that is not supported, more than max_pixels.
  virtual ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const = 0;
  // Fills `out`, the window of the picture that origin, shape and full say (displayed coordinates;
  // any strides), with exactly those pixels that decoding all of the picture would give. Throws
  // SampleError with the byte offset (about) where the data is damaged; then `out` holds anything.
  // Only what the window needs is judged unless options.verify. Requires: out.full is the shape of
  // decoded_type(), out.dtype its dtype; `row_room` bytes before and behind each row of `out` may
  // be overwritten.
  virtual void decode(EncodedSpan bytes, const DecodeOptions& options, const View& out,
                      Arena& scratch, int64_t row_room = 0) const = 0;
};

// Chooses by content, never by name. Throws SampleError that says what the bytes are and what is
// supported. Thread-safe.
const ImageCodec& codec_for(EncodedSpan bytes);

// For codecs: refuses a picture of more pixels than the limit.
void check_pixels(const ImageInfo& info, const DecodeOptions& options);
// For codecs: refuses a window that does not lie in the picture.
void check_window(const ImageInfo& info, const DecodeOptions& options, const View& out);

}  // namespace stoker
