// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg-turbo, asked for no more than a window. For one thread. It trusts its input: a file that
// it cannot decode ends the program.
#pragma once
#include <cstddef>
#include <cstdio>
// Included after <cstdio>, because it lacks an include of its own.
#include <jpeglib.h>

#include <cstdint>
#include <span>
#include <vector>

#include "windows.h"

namespace limit {

// RGB pixels in rows of `stride` bytes. 64 bytes behind the last row can be read.
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
  // The window's pixels, which are valid until the next call. Requires: the window lies inside the
  // picture.
  Region window(std::span<const uint8_t> bytes, const Window& w);

 private:
  void begin(std::span<const uint8_t> bytes);
  // Makes the decoder leave out columns. Returns the first column that it gives.
  int crop_columns(const Window& w);

  jpeg_decompress_struct jpeg_;
  jpeg_error_mgr errors_;
  std::vector<uint8_t> pixels_;
};

}  // namespace limit
