// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals at another sampling rate, for what holds several beside each other. Pure; thread-safe.
#pragma once
#include "base/view.h"
#include "kernels/signal/resample_signal.h"

namespace stoker {

// Resamples along the first axis, times `factor`. Views have the shape (frames) or (frames,
// channels), and any dtypes. Requires: `in` covers what SignalResampler::needed says of `out`.
void resample_channels(const SignalResampler& r, const View& in, const View& out, float factor,
                       Arena& scratch);

}  // namespace stoker
