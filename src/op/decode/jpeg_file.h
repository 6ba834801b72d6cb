// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// JPEG files without a pipeline: what a file is, its pixels or a window of them, and its index.
//
//   std::vector<uint8_t> index = stoker::build_jpeg_index(file);  // once
//   stoker::JpegRequest request{.window = {{200, 300, 424, 524}}, .index = index};
//   std::vector<uint8_t> pixels(stoker::jpeg_output(file, request).bytes());
//   stoker::decode_jpeg(file, request, pixels);
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/codec.h"

namespace stoker {

// What is wanted of a file. Lengths are in pixels.
struct JpegRequest {
  ImageType output_type = ImageType::kRGB;  // not kClasses
  bool adjust_orientation = true;  // turn the picture as its EXIF orientation says
  // y0, x0, y1, x1 of the picture as it is delivered, without row y1 and column x1; not empty.
  std::optional<std::array<int64_t, 4>> window = {};
  // Height and width to which the window is resized, as fn.resize does it by default: linear, with
  // antialiasing. 1 to 65500.
  std::optional<std::array<int64_t, 2>> size = {};
  std::optional<std::span<const uint8_t>> index = {};  // from build_jpeg_index()
};

// What a file says of itself. Throws SampleError where it is no JPEG file, or a damaged one.
struct JpegInfo {
  ImageInfo image;
  bool is_plain = false;  // our own decoder takes it, and it may have an index
};
JpegInfo peek_jpeg(EncodedSpan file, const JpegRequest& request = {});

// The type of the output: (height, width, channels), HWC, uint8, or what lossless JPEG holds.
// Throws SampleError as peek_jpeg(), and WrongCall for a window or a size that cannot be.
struct JpegOutput {
  TensorType type;
  size_t bytes() const { return static_cast<size_t>(type.shape.volume()) * size_of(type.dtype); }
};
JpegOutput jpeg_output(EncodedSpan file, const JpegRequest& request);

// Decodes into dense memory. The pixels are those of the whole picture, cut and resized; no pixel
// depends on the index. Throws as jpeg_output(); SampleError with the offset of damage in the
// file's part down to the window's last row; SampleError where the index is damaged or not of this
// file; WrongCall where `out` has another size. Returns whether the index was used.
bool decode_jpeg(EncodedSpan file, const JpegRequest& request, std::span<uint8_t> out);

// The index of a file: Note [Entropy index] of codec/plain_jpeg/entropy_index.h. A place for the
// first MCU of each row, and for every so many MCUs behind it; 0: no more. Throws SampleError where
// the file cannot have one, as it is progressive or damaged; WrongCall for an `every` that is not
// 0 to EntropyIndex::kMostMcus.
std::vector<uint8_t> build_jpeg_index(EncodedSpan file, int every = 16);

}  // namespace stoker
