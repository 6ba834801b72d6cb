// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_mel.cuh"
#include "op/type_of.h"

namespace stoker {

template <>
struct EnumNames<MelFormula> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"slaney", "htk"};
};

namespace ops::audio {

struct MelFilterBank {
  int nfilter = 128;
  float sample_rate = 44100, freq_low = 0, freq_high = 0;
  MelFormula mel_formula = MelFormula::kSlaney;
  bool normalize = true;
  std::shared_ptr<const std::vector<double>> edges;  // of the filters, in Hz

  static constexpr auto schema = describe(
      "mel_filter_bank",
      "Sums up the frequencies of spectra by triangular filters, evenly spaced in mel.\n\n"
      "Frequencies are the axis f of the layout or, without a layout, the last axis but one. They "
      "go from 0 to half of sample_rate in even steps, as spectrogram gives them for an even nfft. "
      "Filter i rises from 0 at the middle of filter i - 1 to 1 at its own, and falls to 0 at the "
      "middle of filter i + 1. A filter between two frequencies gives 0.",
      ports({.name = "input", .help = "Spectra.", .dtypes = "float32"}),
      ports(
          {.name = "output", .help = "The same with the axis of filters for that of frequencies."}),
      arg(&MelFilterBank::nfilter, "nfilter", "How many filters.", between(1, 1 << 16)),
      arg(&MelFilterBank::sample_rate, "sample_rate", "Of the signal, in Hz.", between(1, 1e7)),
      arg(&MelFilterBank::freq_low, "freq_low", "Where the first filter begins, in Hz.",
          at_least(0)),
      arg(&MelFilterBank::freq_high, "freq_high",
          "Where the last filter ends, in Hz; 0 is half of sample_rate.", at_least(0)),
      arg(&MelFilterBank::mel_formula, "mel_formula",
          "'slaney': mel is linear in Hz up to 1000 Hz and logarithmic above. 'htk': it is the "
          "logarithm of 1 + Hz / 700."),
      arg(&MelFilterBank::normalize, "normalize",
          "Whether the weights are divided by half of the filter's width in Hz, which gives all "
          "triangles the area 1."));

  double nyquist() const { return static_cast<double>(sample_rate) / 2; }
  double highest() const { return freq_high > 0 ? freq_high : nyquist(); }

  void prepare() {
    edges = std::make_shared<const std::vector<double>>(
        mel_edges(mel_formula, freq_low, highest(), nfilter));
  }
  MelFilters bank(int64_t bins) const { return {*edges, nyquist(), bins, normalize}; }

  static int frequencies(const TensorType& in) {
    const int axis = in.layout.empty() ? std::max(in.shape.rank - 2, 0) : in.layout.find('f');
    require(in.shape.rank > 0, "the input is one number, expected spectra");
    require(axis >= 0, "the input needs an axis f, its layout is ", in.layout);
    return axis;
  }
  TensorType filtered(TensorType t) const {
    if (t.shape.rank >= 0) t.shape[frequencies(t)] = nfilter;
    return t;
  }
  void check(Checker& c) const {
    require(highest() <= nyquist(), "argument 'freq_high' is ", freq_high,
            ", more than half of sample_rate, ", nyquist());
    require(freq_low < highest(), "argument 'freq_low' is ", freq_low,
            ", expected less than freq_high, ", highest());
    c.out(filtered(c.in()));
  }
  void infer(Inference& i) const { i.out(filtered(i.inputs[0])); }
  void demand(Demand& d) const {
    const int axis = frequencies(d.inputs[0]);
    d.needed[0] = d.wanted[0];
    d.needed[0].begin[axis] = 0;
    d.needed[0].end[axis] = d.inputs[0].shape[axis];
  }

  void run_cpu(Run& r) const {
    const int axis = frequencies(r.inputs[0].whole());
    sum_by_filters(bank(r.inputs[0].full[axis]), r.inputs[0], r.outputs[0], axis);
  }
  static void run_gpu(GpuRun& r, std::span<const MelFilterBank* const> items) {
    sum_by_filters(
        r, [&](size_t i) { return frequencies(r.items[i].inputs[0].whole()); },
        [&](int64_t bins) { return items[0]->bank(bins); });  // the same for all items
  }

  static std::vector<Case> cases() {
    return {
        {"nfilter=1, sample_rate=8, normalize=False",
         {"float32 ft [[1, 10], [2, 20], [3, 30], [4, 40], [5, 50]]"},
         {"float32 [[6, 60]]"}},
        {"nfilter=2, sample_rate=12", {"float32 tf [[1, 2, 3, 4, 5, 6, 7]]"}, {"float32 [[3, 5]]"}},
        {"nfilter=1, sample_rate=8, freq_low=1, freq_high=3",
         {"float32 [[[7], [7], [4], [7], [7]]]"},
         {"float32 [[[4]]]"}},
        {"nfilter=3, sample_rate=2, mel_formula='htk'", {"float32 [5, 6]"}, {"float32 [0, 0, 0]"}},
    };
  }
};

}  // namespace ops::audio
}  // namespace stoker

STOKER_OPERATOR(stoker::ops::audio::MelFilterBank)
