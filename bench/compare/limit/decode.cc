// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "decode.h"

#include <algorithm>
#include <cstdlib>

namespace limit {

namespace {

[[noreturn]] void give_up(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  std::fprintf(stderr, "limit: %s\n", text);
  std::exit(1);
}

}  // namespace

Decoder::Decoder() {
  jpeg_.err = jpeg_std_error(&errors_);
  errors_.error_exit = give_up;
  errors_.emit_message = [](j_common_ptr, int) {};
  jpeg_create_decompress(&jpeg_);
}

Decoder::~Decoder() { jpeg_destroy_decompress(&jpeg_); }

void Decoder::begin(std::span<const uint8_t> bytes) {
  jpeg_mem_src(&jpeg_, bytes.data(), bytes.size());
  jpeg_read_header(&jpeg_, TRUE);
}

Size Decoder::size(std::span<const uint8_t> bytes) {
  begin(bytes);
  const Size s{static_cast<int>(jpeg_.image_height), static_cast<int>(jpeg_.image_width)};
  jpeg_abort_decompress(&jpeg_);
  return s;
}

int Decoder::crop_columns(const Window& w) {
  // Chroma is interpolated differently at the edges of a crop, so each side gets one more block.
  const bool subsampled = jpeg_.max_h_samp_factor > 1;
  const int more = subsampled ? jpeg_.max_h_samp_factor * DCTSIZE : 0;
  const int all = static_cast<int>(jpeg_.output_width);
  const int first = std::max(0, w.x - more), last = std::min(all, w.x + w.width + more);
  if (last - first == all) return 0;
  JDIMENSION x = static_cast<JDIMENSION>(first), width = static_cast<JDIMENSION>(last - first);
  jpeg_crop_scanline(&jpeg_, &x, &width);
  return static_cast<int>(x);
}

Region Decoder::window(std::span<const uint8_t> bytes, const Window& w) {
  begin(bytes);
  jpeg_.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg_);
  const int x = crop_columns(w);
  if (w.y > 0) jpeg_skip_scanlines(&jpeg_, static_cast<JDIMENSION>(w.y));
  const size_t stride = size_t{3} * jpeg_.output_width;
  const size_t needed = stride * static_cast<size_t>(w.height) + 64;
  if (pixels_.size() < needed) pixels_.resize(needed);
  for (int y = 0; y < w.height;) {
    JSAMPROW rows[4];
    for (int i = 0; i < 4; ++i) rows[i] = pixels_.data() + stride * static_cast<size_t>(y + i);
    const int wanted = std::min(4, w.height - y);
    y += static_cast<int>(jpeg_read_scanlines(&jpeg_, rows, static_cast<JDIMENSION>(wanted)));
  }
  jpeg_abort_decompress(&jpeg_);
  return {pixels_.data() + size_t{3} * static_cast<size_t>(w.x - x), stride};
}

}  // namespace limit
