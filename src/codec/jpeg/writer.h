// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Pixels, to look at what a pipeline makes, or the coefficients of another JPEG file become a JPEG
// file.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "memory/arena.h"

struct jpeg_decompress_struct;
struct jpeg_marker_struct;
struct jvirt_barray_control;

namespace stoker {

struct JpegPicture {
  std::span<const uint8_t> pixels;  // dense rows of gray or RGB
  int64_t height, width, channels;  // channels: 1 or 3
};

// libjpeg does not write such a file.
struct JpegRefusal : Error {
  using Error::Error;
};

// Baseline, with chroma of half the resolution if `subsampled`. Throws JpegRefusal where libjpeg
// refuses the picture, such as one without pixels or with a side above 65,500. Requires: 1 <=
// quality <= 100.
std::vector<uint8_t> write_jpeg(const JpegPicture& picture, int quality, bool subsampled);

// What JpegReader has of a file.
struct JpegCoefficients {
  jpeg_decompress_struct& file;  // JpegReader::decompressor()
  jvirt_barray_control** arrays;  // JpegReader::read_coefficients()
  const jpeg_marker_struct* segments;  // those of segments() that the header gets
  const jpeg_marker_struct* segments_end;  // the first that it does not get; null: it gets all
};

// One sequential scan, of Huffman codes made for it, with a restart marker behind each row of MCUs
// but the last. Nothing but the given segments tells of colours. Memory besides the file's is taken
// from `scratch`. Throws JpegRefusal where libjpeg refuses to write such a file, and what `scratch`
// throws.
std::vector<uint8_t> write_one_scan(const JpegCoefficients& from, Arena& scratch);

}  // namespace stoker
