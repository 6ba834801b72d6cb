// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of a component become rows of pixels, bit for bit as by libjpeg-turbo's smooth upsampling.
//
// Note [Smooth upsampling]
// A component of half the columns, of half the rows, or of both is interpolated: a sample lies in
// the middle of its pixels, and a pixel is three quarters of the nearest sample and one quarter of
// the next, in each halved direction. Behind the edges of the component, which need not be those of
// its blocks, its last samples are repeated. Halves are rounded up and down in turns. Where the
// component has other factors, or halved columns but no more than two, samples are only repeated.
#pragma once
#include <cstdint>

namespace stoker::jpeg {

// A window of a component, as it is stored.
struct Component {
  const uint8_t* samples;  // that of first_row and first_column
  int64_t stride;  // from row to row
  int64_t first_row, first_column;
  int64_t rows, columns;  // of the whole component: those of the picture over down, across, up
  int down, across;  // rows and columns of pixels for each sample

  // Whether pixels depend on the samples next to theirs.
  bool is_smooth() const;
  const uint8_t* row(int64_t y) const { return samples + (y - first_row) * stride - first_column; }
};

// Makes the pixels [begin, end) of row y of the picture. Requires: begin < end; begin is a multiple
// of `across`; `out` has room for end rounded up to such a multiple; the window has the samples of
// these pixels and, if is_smooth(), those next to them in each direction, where there are any.
void upsample(const Component& c, int64_t y, int64_t begin, int64_t end, uint8_t* out);

}  // namespace stoker::jpeg
