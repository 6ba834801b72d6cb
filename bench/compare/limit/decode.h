// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg-turbo, asked for no more than a window. For one thread; trusts its input: what it cannot
// decode ends the program.
#pragma once
#include <cstddef>
#include <cstdio>
// After <cstdio>: it does not include what it needs.
#include <jpeglib.h>

#include <cstdint>
#include <span>
#include <vector>

#include "windows.h"

namespace limit {

// RGB pixels: rows of `stride` bytes, 64 readable bytes behind the last one.
struct Region {
  const uint8_t* pixels;
  size_t stride;
};

struct Size {
  int height, width;
};

class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Size size(std::span<const uint8_t> bytes);
  // The window's pixels; good until the next call. Requires: it lies inside the picture.
  Region window(std::span<const uint8_t> bytes, const Window& w);

 private:
  void begin(std::span<const uint8_t> bytes);
  // Leaves out columns; returns the first one that comes.
  int crop_columns(const Window& w);

  jpeg_decompress_struct jpeg_;
  jpeg_error_mgr errors_;
  std::vector<uint8_t> pixels_;
};

}  // namespace limit
