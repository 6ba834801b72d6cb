// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/view.h"
#include "kernels/signal/resample_signal.h"

namespace stoker {

// How numbers become those of another dtype: they are multiplied by `gain` on the way in, plus
// `offset`, and by `factor` on the way out. Floats and signed integers reach from -full to full and
// unsigned ones from 0, so silence of the one is not silence of the other.
struct SignalScaling {
  float factor = 1, gain = 1, offset = 0;

  static SignalScaling between(DType from, DType to) {
    const auto is_unsigned = [](DType t) { return !info(t).is_float && !info(t).is_signed; };
    const double full = full_intensity(from);
    SignalScaling r{.factor = static_cast<float>(full_intensity(to) / full)};
    if (is_unsigned(from) == is_unsigned(to)) return r;
    r.gain = is_unsigned(from) ? 2 : 0.5f;
    r.offset = static_cast<float>(is_unsigned(from) ? -full : full / 2);
    return r;
  }
  bool is_shifted() const { return offset != 0; }
};

// Resamples signals beside each other along the first axis, of shape (frames) or (frames, channels)
// and any dtypes. Requires: `in` covers what SignalResampler::needed says of `out`.
void resample_channels(const SignalResampler& r, const View& in, const View& out,
                       const SignalScaling& scaling, Arena& scratch);

}  // namespace stoker
