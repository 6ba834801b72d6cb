// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is wanted of a picture, in nvJPEG's terms.
#pragma once
#include <optional>

#include "codec/device_decoder.h"
#include "codec/nvjpeg/api.h"

namespace stoker::nvjpeg {

struct Wish {
  OutputFormat format = kRgbInterleaved;
  int channels = 3;
  int height = 0, width = 0;  // of the whole picture
  int y = 0, x = 0, rows = 0, columns = 0;  // the window
  bool has_chroma = true, is_progressive = false;

  bool is_whole() const { return rows == height && columns == width; }
  int64_t pixels() const { return int64_t{height} * width; }
};

// Empty when the CPU decodes this picture (Note [Who decodes a picture]).
std::optional<Wish> wish_of(const DecodeRequest& request);
// Whether a hash of the bytes puts them into this share of all files.
bool is_in_share(EncodedSpan bytes, float share);

}  // namespace stoker::nvjpeg
