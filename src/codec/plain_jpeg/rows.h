// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of pixels from a decoder become the channels and the strides that were asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <jpeglib.h>

#include "codec/codec.h"

namespace stoker {

inline constexpr int kRows = 16;  // written at once, so that a turned picture is written in runs

// Of how many rows of MCUs the damage counts where so many rows of pixels are judged: Note [Judged
// rows] of codec/jpeg/reader.h. `factor` is the largest vertical sampling factor of the file's
// components.
int64_t judged_mcu_rows(int64_t rows, int64_t height, int factor);

// Turns a row of a decoder into what was asked for, in place. The row never gets more channels.
using ConvertRow = void (*)(uint8_t* row, int64_t pixels);

struct ColorPlan {
  J_COLOR_SPACE decoded;  // what the decoder makes
  ConvertRow convert = nullptr;  // what then remains to be done
};
ColorPlan plan_color(J_COLOR_SPACE stored, ImageType type);

// Writes `count` rows of pixels to `out`, from its row `y` on. `lines` is the first wanted pixel of
// the first row; rows are `pitch` bytes apart.
void scatter_rows(const uint8_t* lines, int64_t pitch, const View& out, int64_t y, int64_t count);
// Whether the pixels of a row of `out` lie one behind the other.
bool has_plain_rows(const View& out);

// Takes the rows of a view in stored coordinates one by one, from the first on.
class RowWriter {
 public:
  // Requires: the view's memory and `scratch` outlive this.
  RowWriter(const View& out, ConvertRow convert, int channels, Arena& scratch);
  // Where the decoder has to write the next row: the view's columns, and nothing behind them.
  uint8_t* next();
  // To be called once the row was written. Rows beside the view are copied into it in groups.
  void written();

 private:
  const View& out_;
  ConvertRow convert_;
  bool is_direct_;
  int64_t pitch_;
  uint8_t* lines_ = nullptr;
  int64_t y_ = 0, waiting_ = 0;
};

}  // namespace stoker
