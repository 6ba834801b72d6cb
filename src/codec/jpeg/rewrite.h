// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites JPEG files so that they are read faster, without any loss. Thread-safe.
//
// Note [Fast files]
// A file is fast if it has one sequential scan of Huffman codes with a restart marker behind each
// row of MCUs: its data passes over the picture once, and each row can be found and read without
// those above it. Our own decoder takes such files, if they have one component or three: Note
// [Plain files] of codec/plain_jpeg/frame.h. Any other file becomes one if nothing is lost: the
// same coefficients and quantisation tables; each APPn and COM segment byte for byte, on the same
// side of the first scan, as those behind it do not tell of colours; and what follows the picture's
// end. Only fill bytes, padding before markers and the arrangement of tables do not stay. A new
// file is read back before it is given to anybody.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "memory/arena.h"

namespace stoker {

struct JpegRewrite {
  std::vector<uint8_t> bytes;  // of the new file; none if the old one is to stay
  std::string obstacle;  // what would be lost, or why it cannot be done; empty: it is fast already
};

// Throws SampleError with the offset where the file is damaged, or is no JPEG file, Error where the
// new file does not hold what the old one holds, and what `scratch` throws. All memory that grows
// with the picture comes from `scratch`, but for the new file.
JpegRewrite rewrite_jpeg(std::span<const uint8_t> file, Arena& scratch);

// What one file holds and the other does not, in words: of coefficients, tables, segments, and what
// follows the picture. Empty if both hold the same. Throws SampleError where one is damaged, and
// what `scratch` throws.
std::string difference_of_jpegs(std::span<const uint8_t> a, std::span<const uint8_t> b,
                                Arena& scratch);

}  // namespace stoker
