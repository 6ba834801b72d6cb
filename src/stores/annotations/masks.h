// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Masks of COCO, run lengths and polygons, become pixels. Pixels count down the columns.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stoker::stores {

// Lengths of runs of pixels, in turn outside and inside of the mask.
using RunLengths = std::vector<uint32_t>;

// Parses the compressed form. Throws SampleError.
RunLengths parse_run_lengths(std::string_view text);

// Sets the pixels of a mask to `value`. `rows`: the picture, height x width. Throws SampleError
// where the runs are not as long as the picture.
void paint(std::span<const uint32_t> runs, int64_t height, int64_t width, int32_t value,
           int32_t* rows);

// `xy`: the polygon's corners, in pixels. The outline has five steps a pixel, as in COCO's tools,
// so that the pixels are the same.
void paint_polygon(std::span<const float> xy, int64_t height, int64_t width, int32_t value,
                   int32_t* rows);

}  // namespace stoker::stores
