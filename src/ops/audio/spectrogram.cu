// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_spectrum.cuh"
#include "op/type_of.h"

namespace stoker::ops::audio {

struct Spectrogram {
  std::optional<int> nfft;
  int window_length = 512, window_step = 256, power = 2;
  std::optional<Small<float>> window_fn;
  bool center_windows = true, reflect_padding = true;
  Layout layout{"ft"};
  std::shared_ptr<const WindowedFft> prepared;

  static constexpr auto schema = describe(
      "spectrogram",
      "Short-time Fourier transform of a signal, as magnitudes or their squares.\n\n"
      "The signal is cut into windows, which overlap where window_step is less than window_length. "
      "Each is weighted, filled with zeros up to nfft values and transformed. The output has "
      "nfft / 2 + 1 frequencies; a signal of n values gives n / window_step + 1 windows or, "
      "without center_windows, those that lie inside.",
      ports({.name = "input",
             .help = "A signal: one axis, and perhaps others of the extent 1.",
             .dtypes = "float32"}),
      ports({.name = "output", .help = "The spectra, float32."}),
      arg(&Spectrogram::nfft, "nfft", "Length of the transform; default: window_length.",
          between(1, 1 << 20)),
      arg(&Spectrogram::window_length, "window_length", "Values in a window.", between(1, 1 << 20)),
      arg(&Spectrogram::window_step, "window_step", "Values from start to start.", at_least(1)),
      arg(&Spectrogram::window_fn, "window_fn",
          "The weights. Default: the Hann window, (1 - cos(2 pi (k + 1/2) / window_length)) / 2."),
      arg(&Spectrogram::power, "power", "1 gives magnitudes, 2 their squares.", between(1, 2)),
      arg(&Spectrogram::center_windows, "center_windows",
          "Whether windows have their middle at multiples of window_step; else they begin there."),
      arg(&Spectrogram::reflect_padding, "reflect_padding",
          "What lies outside of the signal: the signal mirrored at its ends, or else zeros."),
      arg(&Spectrogram::layout, "layout", "'ft', frequencies first, or 'tf', windows first."));

  int64_t transform() const { return nfft.value_or(window_length); }
  SignalWindows windows() const {
    return {window_length, window_step, center_windows, reflect_padding, power == 2};
  }

  void prepare() {
    std::vector<float> weights = hann(window_length);
    if (window_fn) weights.assign(window_fn->begin(), window_fn->end());
    prepared = std::make_shared<const WindowedFft>(WindowedFft{Fft(transform()), weights});
  }

  TensorType spectra(const TensorType& in) const {
    const int64_t length = signal_length(in.shape);
    require(length != 0, "the signal has no values, so it has no spectrum");
    const int64_t bins = transform() / 2 + 1, count = windows().count(length);
    const Shape shape = layout.find('f') == 0 ? Shape{bins, count} : Shape{count, bins};
    return {DType::kFloat32, layout, shape};
  }
  void check(Checker& c) const {
    require(window_length <= transform(), "argument 'window_length' is ", window_length,
            ", more than nfft, ", transform());
    require(layout == "ft" || layout == "tf", "argument 'layout' is ", layout,
            ", expected 'ft' or 'tf'");
    if (window_fn)
      require_count("argument 'window_fn'", window_fn->size(), {window_length}, "one per value");
    c.out(spectra(c.in()));
  }
  void infer(Inference& i) const { i.out(spectra(i.inputs[0])); }

  void run_cpu(Run& r) const {
    const auto& [fft, weights] = *prepared;
    run_spectrum(windows().spectrum(r.inputs[0], weights.data()), fft, r.outputs[0], r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Spectrogram* const> items) {
    run_spectra(r, *items[0]->prepared, items[0]->windows());  // which are the same for all
  }

  static std::vector<Case> cases() {
    return {
        {"window_length=2, window_step=2, center_windows=False, window_fn=[1.0, 1.0], power=1",
         {"float32 [1, 2, 3, 4]"},
         {"float32 [[3, 7], [1, 1]]"}},
        {"nfft=4, window_length=1, window_step=1, window_fn=[2.0], layout='tf', "
         "center_windows=False",
         {"float32 [1, -3]"},
         {"float32 [[4, 4, 4], [36, 36, 36]]"}},
    };
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::Spectrogram)
