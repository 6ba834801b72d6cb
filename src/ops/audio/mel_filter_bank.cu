// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "base/exact_math.h"
#include "kernels/elements/walk.h"
#include "kernels/levels.h"
#include "op/loops/gpu_each.cuh"
#include "op/op.h"

namespace stoker {

enum class MelFormula : uint8_t { kSlaney, kHtk };
template <>
struct EnumNames<MelFormula> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"slaney", "htk"};
};

namespace ops::audio {

struct MelFilterBank {
  // A filter takes the bins [begin, end), times weights[0], weights[1], ...
  struct Triangle {
    int64_t begin, end;
    const float* weights;
  };
  struct Bank {
    std::vector<float> weights;  // filter after filter
    std::vector<Triangle> triangles;

    // Where the weights lie, perhaps on a device.
    void point_to(const float* first) {
      for (Triangle& t : triangles) {
        t.weights = first;
        first += t.end - t.begin;
      }
    }
  };
  // Makes the elements of a dense output, with the sums in the order of run_cpu.
  struct Work {
    const Triangle* triangles;
    const std::byte* in;  // at full position 0
    Axes first_bin;  // of each element of the output, from `in` on
    int64_t bin_step, inner, filters;
    float* out;
    int64_t pieces;

    STOKER_HD void run(int64_t k) const {
      const Triangle& t = triangles[k / inner % filters];
      const std::byte* from = in + first_bin.offset(k) + t.begin * bin_step;
      float sum = 0;
      for (int64_t b = 0; b < t.end - t.begin; ++b)
        sum += t.weights[b] * *reinterpret_cast<const float*>(from + b * bin_step);
      out[k] = sum;
    }
  };

  int nfilter = 128;
  float sample_rate = 44100, freq_low = 0, freq_high = 0;
  MelFormula mel_formula = MelFormula::kSlaney;
  bool normalize = true;
  std::shared_ptr<const std::vector<double>> edges;  // in Hz: where filter i begins, peaks, ends

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

  // The scales but for a factor, which does not matter for even steps.
  double mel(double hz) const {
    if (mel_formula == MelFormula::kHtk) return exact::log(1 + hz / 700);
    return hz < 1000 ? hz * 3 / 200 : 15 + 27 * exact::log(hz / 1000) / exact::log(6.4);
  }
  double hz(double mel) const {
    if (mel_formula == MelFormula::kHtk) return 700 * (exact::exp(mel) - 1);
    return mel < 15 ? mel * 200 / 3 : 1000 * exact::exp((mel - 15) * exact::log(6.4) / 27);
  }
  double nyquist() const { return static_cast<double>(sample_rate) / 2; }
  double highest() const { return freq_high > 0 ? freq_high : nyquist(); }

  void prepare() {
    const double low = mel(freq_low), step = (mel(highest()) - low) / (nfilter + 1);
    std::vector<double> all{freq_low};
    for (int i = 1; i <= nfilter; ++i) all.push_back(hz(low + i * step));
    all.push_back(highest());
    edges = std::make_shared<const std::vector<double>>(std::move(all));
  }

  // The filters for spectra of so many frequencies.
  Bank bank(int64_t bins) const {
    const double width = nyquist() / static_cast<double>(std::max<int64_t>(bins - 1, 1));
    Bank made;
    for (size_t i = 0; i < static_cast<size_t>(nfilter); ++i) {
      const double low = (*edges)[i], middle = (*edges)[i + 1], high = (*edges)[i + 2];
      Triangle t{std::min(static_cast<int64_t>(low / width) + 1, bins), 0, nullptr};
      for (t.end = t.begin; t.end < bins; ++t.end) {
        const double f = static_cast<double>(t.end) * width;
        if (f >= high) break;
        const double weight =
            f < middle ? std::max(f - low, 0.0) / (middle - low) : (high - f) / (high - middle);
        made.weights.push_back(static_cast<float>(normalize ? weight * 2 / (high - low) : weight));
      }
      made.triangles.push_back(t);
    }
    made.point_to(made.weights.data());
    return made;
  }

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
    constexpr int64_t kChunk = 64;
    const View &in = r.inputs[0], &out = r.outputs[0];
    if (out.shape.volume() == 0) return;
    const int axis = frequencies(in.whole());
    const Bank filters = bank(in.full[axis]);
    Shape box = out.shape, origin = out.origin;
    box[axis] = 1, origin[axis] = 0;
    Track to{0, out.strides};
    Walk<2> walk(box, {Track::of(in, origin), to});
    at_cpu_level([&] {
      do {
        for (int64_t first = 0; first < walk.count; first += kChunk) {
          const int64_t n = std::min(kChunk, walk.count - first), from_step = walk.step[0];
          const std::byte* from = in.as<std::byte>() + walk.row[0] + first * from_step;
          std::byte* made = out.as<std::byte>() + walk.row[1] + first * walk.step[1];
          for (int64_t m = 0; m < out.shape[axis]; ++m) {
            const Triangle& t = filters.triangles[static_cast<size_t>(out.origin[axis] + m)];
            float sum[kChunk] = {};
            for (int64_t b = t.begin; b < t.end; ++b) {
              const float weight = t.weights[b - t.begin];
              const std::byte* row = from + b * in.strides[axis];
              if (from_step == int64_t{sizeof(float)})
                for (int64_t k = 0; k < n; ++k)
                  sum[k] += weight * reinterpret_cast<const float*>(row)[k];
              else
                for (int64_t k = 0; k < n; ++k)
                  sum[k] += weight * *reinterpret_cast<const float*>(row + k * from_step);
            }
            for (int64_t k = 0; k < n; ++k)
              *reinterpret_cast<float*>(made + m * out.strides[axis] + k * walk.step[1]) = sum[k];
          }
        }
      } while (walk.next());
    });
  }

  static void run_gpu(GpuRun& r, std::span<const MelFilterBank* const> items) {
    std::map<int64_t, const Triangle*> banks;  // by the number of frequencies, mostly one
    std::vector<Work> work;
    for (size_t i = 0; i < items.size(); ++i) {
      const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
      if (out.shape.volume() == 0) continue;
      const int axis = frequencies(in.whole());
      const Triangle*& triangles = banks[in.full[axis]];
      if (!triangles) {
        Bank filters = items[i]->bank(in.full[axis]);
        filters.point_to(r.put(std::span<const float>(filters.weights)));
        triangles = r.put(std::span<const Triangle>(filters.triangles));
      }
      const Strided all = Strided::of(in);
      Shape bins = all.stride;
      bins[axis] = 0;
      work.push_back({triangles, all.data + all.offset, Axes(out.shape, bins), all.stride[axis],
                      out.strides[axis] / int64_t{sizeof(float)}, out.shape[axis], out.as<float>(),
                      out.shape.volume()});
    }
    run_each(r, std::span<const Work>(work));
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
