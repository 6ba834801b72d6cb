// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of gray, RGB (both also with alpha) or CMYK pixels become what codecs were asked for.
#pragma once
#include <array>

#include "codec/codec.h"

namespace stoker {

// Every `step`th pixel of a stored row, from `first` on.
struct Columns {
  int64_t first = 0, step = 1;
};

class PixelWriter {
 public:
  // Rows have `channels` channels (1 to 4) of `dtype` (uint8, uint16 or float32). `stored` is the
  // output in stored coordinates. Requires: where `type` is kAny, it has at least as many channels.
  PixelWriter(ImageType type, int channels, DType dtype, const View& stored, Arena& scratch);

  // Rows hold indices from now on: those of `entries`, at most 256 pixels of 8 bits with the rows'
  // channels. Indices beyond them are black. `numbers`: what kClasses gives for each entry; empty:
  // the indices themselves. Requires: `dtype` is uint8.
  void use_palette(std::span<const uint8_t> entries, std::span<const uint8_t> numbers = {});

  // Rows hold CMYK from now on, 0 = no ink. Requires: channels is 4, `dtype` is uint8 or uint16.
  void use_cmyk();

  int channels() const { return channels_; }  // of rows without a palette
  bool wants_row(int64_t y) const { return y >= stored_.origin[0] && y < end_row(); }
  int64_t begin_row() const { return stored_.origin[0]; }
  int64_t end_row() const { return stored_.origin[0] + stored_.shape[0]; }
  int64_t end_column() const { return stored_.origin[1] + stored_.shape[1]; }
  // Writes what is wanted of row y. `row` holds `pixels` pixels of `columns`, from the first on, or
  // more than are wanted. Requires: wants_row(y).
  void put(int64_t y, const void* row, Columns columns = {}, int64_t pixels = INT64_MAX);
  void clear();

 private:
  using Convert = void (*)(const void* from, void* to, int64_t pixels);
  static constexpr size_t kEntry = 4;  // bytes of a palette's entry
  static Convert converter(ImageType type, int channels, DType dtype);
  void use_numbers(std::span<const uint8_t> numbers);
  void expand(const uint8_t* indices, uint8_t* to, int64_t pixels) const;
  void make(const uint8_t* from, uint8_t* to, int64_t pixels) const;
  void scatter(const uint8_t* from, uint8_t* to, int64_t step, int64_t count) const;

  View stored_;
  ImageType type_;
  Convert convert_;  // null: pixels are copied
  int channels_;
  int64_t from_size_, to_size_;  // bytes of a pixel
  bool is_dense_;  // a row's pixels lie side by side
  uint8_t* line_;  // of converted pixels, where they do not
  bool has_palette_ = false;
  std::array<uint8_t, 256 * kEntry> palette_;  // of converted pixels
};

// Makes a byte of each of `count` samples of 1, 2 or 4 bits, which begin with the highest bits.
void unpack_bits(const uint8_t* row, int depth, uint8_t* to, int64_t count);

// Calls decode() of a format that is judged as a whole. Tolerated or unjudged damage gives black.
template <class Decode>
void decode_whole(const EncodedImage& image, bool is_judged, PixelWriter& out,
                  const Decode& decode) {
  const bool tolerates = image.options.tolerate_corrupt || !is_judged;
  if (tolerates) out.clear();
  try {
    decode();
  } catch (const SampleError&) {
    if (!tolerates) throw;
    out.clear();
  }
}

}  // namespace stoker
