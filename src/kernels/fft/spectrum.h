// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Spectra of the windows of a signal.
#pragma once
#include <cmath>

#include "base/view.h"
#include "kernels/fft/fft.h"
#include "memory/arena.h"

namespace stoker {

// Window t takes `length` values from position t * hop - before on, times `weights`, and zeros up
// to the length of the transform. For the CPU and devices.
struct Spectrum {
  const float* signal;  // position k of `size` is signal[k * signal_stride]
  int64_t size, signal_stride;
  const float* weights;
  int64_t length, hop, before;
  bool reflects;  // positions outside are mirrored at the ends; else they are 0
  bool squares;  // gives the squares of magnitudes

  // Value i of window t. Requires: i < length.
  STOKER_HD float value(int64_t t, int64_t i) const {
    int64_t at = t * hop - before + i;
    if (at < 0 || at >= size) {
      if (!reflects) return 0;
      const int64_t period = size > 1 ? 2 * (size - 1) : 1;
      at = (at % period + period) % period;
      if (at >= size) at = period - at;
    }
    return signal[at * signal_stride] * weights[i];
  }
  STOKER_HD float magnitude(float re, float im) const {
    const float square = re * re + im * im;
    return squares ? square : std::sqrt(square);
  }
};

struct WindowedFft {
  Fft fft;
  std::vector<float> weights;
};

// How a signal is cut into windows. With `centers`, their middles are at multiples of the hop; else
// the first begins with the signal, and all lie inside.
struct SignalWindows {
  int64_t length, hop;
  bool centers, reflects, squares;

  // For a signal of so many values; -1 is unknown.
  int64_t count(int64_t size) const {
    if (size <= 0) return size;
    if (centers) return size / hop + 1;
    return size < length ? 0 : (size - length) / hop + 1;
  }
  // Requires: all axes of the signal but one have the extent 1.
  Spectrum spectrum(const View& signal, const float* weights) const {
    int axis = 0;
    for (int a = 1; a < signal.shape.rank; ++a)
      if (signal.shape[a] != 1) axis = a;
    const int64_t signal_stride = signal.strides[axis] / int64_t{sizeof(float)};
    return {signal.as<const float>(), signal.shape[axis],  signal_stride, weights, length, hop,
            centers ? length / 2 : 0, centers && reflects, squares};
  }
};

// The Hann window, (1 - cos(2 pi (k + 1/2) / length)) / 2.
std::vector<float> hann(int length);

// Writes the spectra. The axis of frequencies has the letter f in the layout of `out`, the other
// one is that of windows. Requires: the signal is not empty, and `out` holds floats.
void run_spectrum(const Spectrum& s, const Fft& fft, const View& out, Arena& scratch);

}  // namespace stoker
