// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Our own decoder of JPEG, for undamaged plain and progressive files: Note [Plain files] of frame.h
// and Note [Progressive files] of progressive_frame.h.
#pragma once
#include <cstdint>
#include <optional>

#include "codec/codec.h"
#include "codec/plain_jpeg/entropy_index.h"

namespace stoker {

// Fills a view in stored coordinates with the pixels that libjpeg-turbo would give, and judges so
// many rows from the top. Returns false where the file, or what is read of it, is not an undamaged
// file of these kinds; then the view holds anything. Throws what `scratch` throws.
// Begins at a place of the file's index, if image.jpeg.indexes has it, and adds to it what was
// found out.
[[nodiscard]] bool decode_plain_jpeg(const EncodedImage& image, const View& stored,
                                     int64_t judged_rows, Arena& scratch);

// Reads all of a file to make its index, with places as EntropyIndex has them for `every`. None if
// the file is not an undamaged plain one. Throws what `scratch` throws. Thread-safe.
std::optional<EntropyIndex> build_entropy_index(EncodedSpan file, int every, Arena& scratch);

// For tests and benchmarks: from now on all files are left to libjpeg-turbo, or not. Thread-safe.
void leave_plain_jpeg_to_libjpeg(bool all);

}  // namespace stoker
