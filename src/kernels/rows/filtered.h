// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of pixels at any places by the cubic and the Lanczos filter: Note [Filtered places] in
// kernels/warp/place_filter.h. All targets give the same bytes.
#pragma once
#include "kernels/rows/warp.h"
#include "kernels/warp/place_filter.h"

namespace stoker::rows {

// How many bytes from a place's first value on may be read. Pixels have up to 4 values of T, which
// is uint8_t or float.
template <class T>
int64_t filter_load(Filter filter, int64_t pixel);

// Make up to kWarpChunk pixels, which become `quads` as by warp_bytes() and warp_floats(). Require:
// `load` is filter_load(); the places are lists; if `inside`, so is all that a load reads. Floats
// need places that are whole along no axis, as a NaN beside one would show.
void filter_bytes(const WarpedPixels& p, Filter filter, bool inside, const PlaceRow& at, int64_t n,
                  uint32_t* quads);
void filter_floats(const WarpedPixels& p, Filter filter, bool inside, const PlaceRow& at, int64_t n,
                   float* quads);

}  // namespace stoker::rows
