// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills the rows of a TapTable, many outputs at a time.
#pragma once
#include "kernels/resample/taps.h"

namespace stoker {

// The arrays that tap_table fills, `pitch` weights per output. Scratch: tap_scratch(pitch) doubles.
template <class W>
struct TapRows {
  int64_t start, step, count, pitch;
  int32_t *first, *taps;
  W* weights;
  double* scratch;
};
inline int64_t tap_scratch(int64_t pitch) { return 8 * pitch; }

// Fills all rows as taps_of does, with the same bits on all targets. Requires: no kNearest filter.
void fill_rows(const ResampleAxis& axis, int64_t extent, const TapRows<int16_t>& rows);
void fill_rows(const ResampleAxis& axis, int64_t extent, const TapRows<float>& rows);
void fill_rows(const ResampleAxis& axis, int64_t extent, const TapRows<double>& rows);

// Fills row i by taps_of. `exact` has room for `pitch` doubles.
template <class W>
void fill_row(const ResampleAxis& axis, int64_t extent, const TapRows<W>& rows, int64_t i,
              double* exact);

}  // namespace stoker
