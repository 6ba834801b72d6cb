// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_spectrum.cuh"
#include "op/op.h"

namespace stoker::ops::audio {

struct Spectrogram {
  std::optional<int> nfft;
  int window_length = 512, window_step = 256, power = 2;
  std::optional<Small<float>> window_fn;
  bool center_windows = true, reflect_padding = true;
  std::string layout = "ft";
  struct Prepared {
    Fft fft;
    std::vector<float> weights;
  };
  std::shared_ptr<const Prepared> prepared;

  static constexpr auto schema = describe(
      "spectrogram",
      "Short-time Fourier transform of a signal, as magnitudes or their squares.\n\n"
      "The signal is cut into windows, which overlap where window_step is less than window_length. "
      "Each is weighted, filled with zeros up to nfft values and transformed. The output has "
      "nfft / 2 + 1 frequencies; a signal of n values gives n / window_step + 1 windows or, "
      "without "
      "center_windows, those that lie inside.",
      ports({.name = "input", .help = "A signal: one axis.", .dtypes = "float32"}),
      ports({.name = "output", .help = "The spectra, float32."}),
      arg(&Spectrogram::nfft, "nfft", "Length of the transform; default: window_length.",
          between(1, 1 << 20)),
      arg(&Spectrogram::window_length, "window_length", "Values in a window.", between(1, 1 << 20)),
      arg(&Spectrogram::window_step, "window_step", "Values from a window to the next.",
          at_least(1)),
      arg(&Spectrogram::window_fn, "window_fn",
          "The weights, window_length of them. Default: the Hann window, "
          "(1 - cos(2 pi (k + 1/2) / window_length)) / 2."),
      arg(&Spectrogram::power, "power", "1 gives magnitudes, 2 their squares.", between(1, 2)),
      arg(&Spectrogram::center_windows, "center_windows",
          "Whether windows have their middle at multiples of window_step; else they begin there."),
      arg(&Spectrogram::reflect_padding, "reflect_padding",
          "What lies outside of the signal: the signal mirrored at its ends, or else zeros."),
      arg(&Spectrogram::layout, "layout", "'ft', frequencies first, or 'tf', windows first."));

  int64_t transform() const { return nfft.value_or(window_length); }
  int frequency() const { return layout == "ft" ? 0 : 1; }

  void prepare() {
    std::vector<float> weights(static_cast<size_t>(window_length));
    for (int k = 0; k < window_length; ++k)
      weights[static_cast<size_t>(k)] = static_cast<float>(
          (1 - exact::cos(0x1.921fb54442d18p+2 * (k + 0.5) / window_length)) / 2);
    if (window_fn)
      std::copy_n(window_fn->begin(), std::min(weights.size(), window_fn->size()), weights.begin());
    prepared = std::make_shared<const Prepared>(Prepared{Fft(transform()), std::move(weights)});
  }

  Shape shape_of(int64_t size) const {
    int64_t windows = std::min<int64_t>(size, 0);  // -1 is unknown
    if (size > 0)
      windows = center_windows         ? size / window_step + 1
                : size < window_length ? 0
                                       : (size - window_length) / window_step + 1;
    const int64_t bins = transform() / 2 + 1;
    return frequency() == 0 ? Shape{bins, windows} : Shape{windows, bins};
  }
  void check(Checker& c) const {
    const Shape& in = c.in().shape;
    require(in.rank < 0 || in.rank == 1, "the input is a signal with one axis, got ", in);
    require(window_length <= transform(), "argument 'window_length' is ", window_length,
            ", more than nfft, ", transform());
    require(layout == "ft" || layout == "tf", "argument 'layout' is '", layout,
            "', expected 'ft' or 'tf'");
    if (window_fn)
      require_count("argument 'window_fn'", window_fn->size(), {window_length}, "one per value");
    c.out({DType::kFloat32, Layout(layout), shape_of(in.rank < 0 ? -1 : in[0])});
  }
  void infer(Inference& i) const {
    const Shape& in = i.inputs[0].shape;
    require(in.rank == 1, "the input is a signal with one axis, got ", in);
    i.out({DType::kFloat32, Layout(layout), shape_of(in[0])});
  }

  Spectrum spectrum(const View& in, const float* weights) const {
    return {in.as<const float>(),
            in.shape[0],
            in.strides[0] / int64_t{sizeof(float)},
            weights,
            window_length,
            window_step,
            center_windows ? window_length / 2 : 0,
            center_windows && reflect_padding,
            power == 2};
  }
  void run_cpu(Run& r) const {
    run_spectrum(spectrum(r.inputs[0], prepared->weights.data()), prepared->fft, r.outputs[0],
                 frequency(), r.scratch);
  }

  static void run_gpu(GpuRun& r, std::span<const Spectrogram* const> items) {
    const Prepared& p = *items[0]->prepared;  // nothing is computed per sample
    const float* weights = r.put(std::span<const float>(p.weights));
    run_spectra(r, p.fft, items[0]->frequency(),
                [&](const View& in) { return items[0]->spectrum(in, weights); });
  }

  static std::vector<Case> cases() {
    return {
        {"window_length=2, window_step=2, center_windows=False, window_fn=[1.0, 1.0], power=1",
         {"float32 [1, 2, 3, 4]"},
         {"float32 [[3, 7], [1, 1]]"}},
        {"nfft=4, window_length=1, window_step=1, window_fn=[2.0], layout=\"tf\", "
         "center_windows=False",
         {"float32 [1, -3]"},
         {"float32 [[4, 4, 4], [36, 36, 36]]"}},
    };
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::Spectrogram)
