// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes a window with libjpeg-turbo. It trusts its input: a damaged file ends the program.
#pragma once
#include <cstddef>
#include <cstdio>
// This needs <cstdio>, but does not include it.
#include <jpeglib.h>

#include <cstdint>
#include <span>
#include <vector>

#include "windows.h"

namespace limit {

// RGB pixels in rows of `stride` bytes. The 64 bytes behind the last row can be read.
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
  // The pixels are valid until the next call. Requires: the window lies in the picture.
  Region window(std::span<const uint8_t> bytes, const Window& w);

 private:
  void begin(std::span<const uint8_t> bytes);
  // Restricts the decoder to some columns. Returns the first column that it gives.
  int crop_columns(const Window& w);

  jpeg_decompress_struct jpeg_;
  jpeg_error_mgr errors_;
  std::vector<uint8_t> pixels_;
};

}  // namespace limit
