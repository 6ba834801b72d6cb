// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Lossless JPEG (process 14: SOF3, Huffman codes), which libjpeg-turbo 2.1 does not read.
#pragma once
#include "codec/codec.h"
#include "codec/jpeg/header.h"

namespace stoker {

// The colours of lossless files are RGB, unless a marker says that they are YCbCr; four components
// are ink as Adobe stores it. Samples of other than 8 or 16 bits are scaled to the next of these.
inline constexpr int kMostLosslessComponents = 4;

DType lossless_dtype(const JpegHeader& header);
// Fills a view in stored coordinates. Damage in the first `judged_rows` is an error, and so is, if
// these are all, data that goes on behind the picture. Throws SampleError.
void read_lossless_jpeg(const EncodedImage& image, const JpegHeader& header, const View& stored,
                        int64_t judged_rows, Arena& scratch);

}  // namespace stoker
