// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Medians of large windows of bytes, in a time that hardly depends on the window: the histogram of
// a column goes down by a row, and that of a window to the right by a column (Perreault and Hebert,
// "Median filtering in constant time").
#pragma once
#include <cstdint>

#include "memory/arena.h"

namespace stoker {

class ByteMedians {
 public:
  // Counts of values in 16 bins of 16, and of the values of each bin.
  struct Histogram {
    uint16_t bin[16], value[16][16];
  };

  // For windows of up to 65535 elements and rows of `count` medians; neighbours are `stride` apart.
  ByteMedians(int64_t height, int64_t width, int64_t stride, int64_t count, Arena& scratch);

  // Makes a row of medians of these rows of the input. They follow those of the call before, of
  // which `left` is now gone; null: they do not follow.
  void run(const uint8_t* const* rows, const uint8_t* left, uint8_t* out);

 private:
  int64_t height_, width_, stride_, count_;
  Histogram* columns_;  // of all columns, step by step
};

}  // namespace stoker
