// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Pixels become a JPEG file, to look at what a pipeline makes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

struct JpegPicture {
  std::span<const uint8_t> pixels;  // dense rows of gray or RGB
  int64_t height, width, channels;  // channels: 1 or 3
};

// Baseline, with chroma of half the resolution if `subsampled`. Throws Error where libjpeg refuses
// the picture, such as one with a side of 0 or above 65,500. Requires: 1 <= quality <= 100.
std::vector<uint8_t> write_jpeg(const JpegPicture& picture, int quality, bool subsampled);

}  // namespace stoker
