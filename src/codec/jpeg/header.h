// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a JPEG file says about itself before its first scan.
#pragma once
#include <cstdint>
#include <span>

namespace stoker {

struct JpegHeader {
  int64_t height = 0, width = 0;
  int components = 0;
  bool is_ycbcr = false;
  int bits = 8;  // of a sample
  bool is_progressive = false;
  bool is_lossless = false;
  int orientation = 1;  // of EXIF or XMP: codec/exif.h
};

// Reads the segments up to the first scan. The bytes may end behind the frame header. Throws
// SampleError with the byte offset where there is no frame header, or one of a kind that
// cannot be decoded (hierarchical, 12 bits that are not lossless).
JpegHeader read_jpeg_header(std::span<const uint8_t> bytes);

}  // namespace stoker
