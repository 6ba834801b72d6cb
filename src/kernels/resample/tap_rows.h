// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of a TapTable, many outputs at a time. Pure; thread-safe.
#pragma once
#include "kernels/resample/taps.h"

namespace stoker {

// What tap_table fills: `pitch` weights per output. `scratch`: tap_scratch(pitch) doubles, aligned.
template <class W>
struct TapRows {
  int64_t start, step, count, pitch;
  int32_t *first, *taps;
  W* weights;
  double* scratch;
};
inline int64_t tap_scratch(int64_t pitch) { return 8 * pitch; }

// The taps of taps_of, with the same bits on all targets. Requires: another filter than kNearest.
void fill_rows(const ResampleAxis& axis, int64_t extent, const TapRows<int16_t>& rows);
void fill_rows(const ResampleAxis& axis, int64_t extent, const TapRows<float>& rows);
void fill_rows(const ResampleAxis& axis, int64_t extent, const TapRows<double>& rows);

// One output of them by taps_of. `exact`: pitch doubles.
template <class W>
void fill_row(const ResampleAxis& axis, int64_t extent, const TapRows<W>& rows, int64_t i,
              double* exact);

}  // namespace stoker
