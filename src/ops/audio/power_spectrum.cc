// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "kernels/fft/spectrum.h"
#include "op/type_of.h"

namespace stoker::ops::audio {

struct PowerSpectrum {
  int axis = -1, power = 2;
  std::optional<int> nfft;

  static constexpr auto schema = describe(
      "power_spectrum",
      "Fourier transform along an axis, as magnitudes or their squares.\n\n"
      "The axis gets nfft / 2 + 1 frequencies. Of a longer signal only the first nfft values "
      "count; "
      "a shorter one is filled with zeros.",
      ports({.name = "input", .help = "Signals.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The spectra, float32."}),
      arg(&PowerSpectrum::axis, "axis", "The axis to transform; -1 is the last.",
          between(-kMaxRank, kMaxRank - 1)),
      arg(&PowerSpectrum::nfft, "nfft", "Length of the transform; default: that of the axis.",
          between(1, 1 << 20)),
      arg(&PowerSpectrum::power, "power", "1 gives magnitudes, 2 their squares.", between(1, 2)));

  int axis_in(const Shape& s) const { return axis_numbered("axis", axis, s.rank); }
  TensorType spectra(TensorType t) const {
    if (t.shape.rank < 0) return t;
    int64_t& extent = t.shape[axis_in(t.shape)];
    require(extent <= 1 << 20 || nfft, "the axis has ", extent, " values, expected at most 2^20");
    require(extent != 0, "the axis has no values");
    if (extent > 0 || nfft) extent = nfft.value_or(static_cast<int>(extent)) / 2 + 1;
    return t;
  }
  void check(Checker& c) const { c.out(spectra(c.in())); }
  void infer(Inference& i) const { i.out(spectra(i.inputs[0])); }

  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    const int a = axis_in(in.full), last = in.full.rank - 1;
    const int64_t size = in.full[a], bins = out.full[a], lines = in.full.volume() / size;
    if (lines == 0) return;
    // The axis becomes the last one, and the lines the windows of one signal.
    const auto moved = [&](Shape s) {
      for (int b = a; b < last; ++b) std::swap(s[b], s[b + 1]);
      return s;
    };
    auto* signal = r.scratch.array<float>(static_cast<size_t>(lines * size));
    auto* spectra = r.scratch.array<float>(static_cast<size_t>(lines * bins));
    copy_to_dense(in.data, moved(in.shape), moved(in.strides), sizeof(float), signal);
    const int64_t length = nfft.value_or(static_cast<int>(size));
    const std::vector<float> ones(static_cast<size_t>(length), 1.0f);
    run_spectrum(
        {signal, lines * size, 1, ones.data(), std::min(size, length), size, 0, false, power == 2},
        Fft(length), View::dense(spectra, DType::kFloat32, {lines, bins}, "tf"), r.scratch);
    View all = View::dense(spectra, DType::kFloat32, moved(out.full));
    Shape strides = all.strides;
    for (int b = last; b > a; --b) std::swap(strides[b], strides[b - 1]);
    all.shape = all.full = out.full, all.strides = strides;
    copy_window(all, out);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"float32 [1, 1, 1, 1]"}, {"float32 [16, 0, 0]"}},
        {"power=1, axis=0", {"float32 [[3, 1], [1, 1]]"}, {"float32 [[4, 2], [2, 0]]"}},
        {"nfft=2", {"float32 [3, 1, 7]"}, {"float32 [16, 4]"}},
        {"nfft=4", {"float32 HW [[2]]"}, {"float32 [[4, 4, 4]]"}},
    };
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::PowerSpectrum)
