// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Spectra of the windows of a signal. Pure functions; thread-safe.
#pragma once
#include <cmath>

#include "base/view.h"
#include "kernels/fft/fft.h"
#include "memory/arena.h"

namespace stoker {

// Window t takes `length` values from position t * step - before on, times `weights`, and zeros up
// to the length of the transform. Plain data, for the CPU and devices.
struct Spectrum {
  const float* signal;  // position k of `size` is signal[k * signal_step]
  int64_t size, signal_step;
  const float* weights;
  int64_t length, step, before;
  bool reflects;  // positions outside are mirrored at the ends; else they are 0
  bool squares;  // gives the squares of magnitudes

  // Value i of window t. Requires: i < length.
  STOKER_HD float value(int64_t t, int64_t i) const {
    int64_t at = t * step - before + i;
    if (at < 0 || at >= size) {
      if (!reflects) return 0;
      const int64_t period = size > 1 ? 2 * (size - 1) : 1;
      at = (at % period + period) % period;
      if (at >= size) at = period - at;
    }
    return signal[at * signal_step] * weights[i];
  }
  STOKER_HD float magnitude(float re, float im) const {
    const float square = re * re + im * im;
    return squares ? square : std::sqrt(square);
  }
};

// Writes the spectra, with frequencies along axis `frequency` of the window `out` and windows along
// the other axis. Requires: the signal is not empty, and `out` holds floats.
void run_spectrum(const Spectrum& s, const Fft& fft, const View& out, int frequency,
                  Arena& scratch);

}  // namespace stoker
