// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"
#include "kernels/elements/boxes.h"
#include "kernels/signal/window_power.h"
#include "op/loops/gpu_sum.cuh"
#include "op/type_of.h"

namespace stoker::ops::audio {

struct NonsilentRegion {
  float cutoff_db = -60, reference_power = 0;
  int window_length = 2048;

  // The sums of all windows that begin in a block, on a device.
  template <class T>
  struct BlockPower {
    WindowPower<T> windows;
    double* sums;
    int64_t pieces;
    STOKER_HD void run(int64_t b) const { windows.sum_block(b, sums + b * windows.length); }
  };
  // The number of a window that is loud, else -1, which is also the largest uint32.
  struct LoudWindow {
    const double *sums, *greatest;  // greatest: null where `limit` does not depend on it
    double limit;
    int32_t* numbers;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const {
      const double least = greatest ? detail::mul_once(*greatest, limit) : limit;
      numbers[k] = sums[k] >= least ? static_cast<int32_t>(k) : -1;
    }
  };
  struct Give {
    const int32_t *first, *last;
    int64_t window;
    int32_t *begin, *length;
    int64_t pieces;
    STOKER_HD void run(int64_t) const {
      const bool is_found = window > 0 && *last >= 0;
      *begin = is_found ? *first : 0;
      *length = is_found ? static_cast<int32_t>(*last + window - *first) : 0;
    }
  };

  static constexpr const char* kIgnored[] = {"reset_interval"};
  static constexpr auto schema = describe(
      "nonsilent_region",
      "Finds the part of a sound between silence at its beginning and at its end.\n\n"
      "A window slides over the sound. The part begins with the first window whose mean square is "
      "at least cutoff_db, and ends with the last one. Where there is none, or a NaN leaves no "
      "reference, both outputs are 0. A sound shorter than the window is one window. All dtypes of "
      "numbers but float16 and float64.",
      ports({.name = "input",
             .help = "A sound of one channel, (t).",
             .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32"}),
      ports({.name = "begin", .help = "Number of the part's first value, one int32."},
            {.name = "length", .help = "Number of its values, one int32."}),
      arg(&NonsilentRegion::cutoff_db, "cutoff_db",
          "What is below this is silence, in decibels of the reference.", between(-1000, 1000)),
      arg(&NonsilentRegion::reference_power, "reference_power",
          "The mean square of 0 dB; 0 stands for that of the loudest window.", at_least(0)),
      arg(&NonsilentRegion::window_length, "window_length", "Length of the window.", at_least(1)));

  static void require_sound(const Shape& s) {
    require(s.rank < 0 || s.rank == 1, "the input has the shape ", s, ", expected one axis");
  }
  void check(Checker& c) const {
    require_sound(c.in().shape);
    for (int k = 0; k < 2; ++k) c.out({DType::kInt32, {}, {}});
  }
  void infer(Inference& i) const {
    const Shape& s = i.inputs[0].shape;
    require_sound(s);
    require(s[0] <= std::numeric_limits<int32_t>::max(), "the input has ", s[0],
            " values, expected less than 2^31");
    for (int k = 0; k < 2; ++k) i.out({DType::kInt32, {}, {}});
  }

  // The least sum of a loud window, or the share of the greatest one where that is the reference.
  double limit(int64_t window) const {
    constexpr double kPerDecibel = 0x1.d791c5f888823p-3;  // ln 10 / 10
    const double share = exact::exp(detail::mul_once(static_cast<double>(cutoff_db), kPerDecibel));
    if (reference_power == 0) return share;
    return share * static_cast<double>(reference_power) * static_cast<double>(window);
  }

  void run_cpu(Run& r) const {
    const View& in = r.inputs[0];
    int32_t first = -1, last = -1;
    const int64_t size = in.full[0], window = std::min<int64_t>(window_length, size);
    if (size > 0)
      with_type(in.dtype, [&](auto v) {
        const WindowPower<decltype(v)> windows{in.as<std::byte>(), in.strides[0], size, window};
        auto* sums = r.scratch.array<double>(static_cast<size_t>(window));
        const auto each = [&](int64_t b, const auto& visit) {
          const int64_t n = windows.sum_block(b, sums);
          for (int64_t k = 0; k < n; ++k) visit(b * window + k, sums[k]);
        };
        double least = limit(window);
        if (reference_power == 0) {
          double greatest = 0;
          for (int64_t b = 0; b < windows.blocks(); ++b)
            each(b, [&](int64_t, double sum) {
              greatest = sum > greatest || sum != sum ? sum : greatest;
            });
          least = detail::mul_once(greatest, least);
        }
        for (int64_t b = 0; b < windows.blocks() && first < 0; ++b)
          each(b, [&](int64_t k, double sum) {
            if (first < 0 && sum >= least) first = static_cast<int32_t>(k);
          });
        for (int64_t b = windows.blocks() - 1; b >= 0 && first >= 0 && last < 0; --b)
          each(b, [&](int64_t k, double sum) {
            if (sum >= least) last = static_cast<int32_t>(k);
          });
      });
    int32_t begin = 0, length = 0;
    Give{&first, &last, first < 0 ? 0 : window, &begin, &length, 1}.run(0);
    copy_window(View::dense(&begin, DType::kInt32, {}), r.outputs[0]);
    copy_window(View::dense(&length, DType::kInt32, {}), r.outputs[1]);
  }

  static void run_gpu(GpuRun& r, std::span<const NonsilentRegion* const> items) {
    const bool is_relative = items[0]->reference_power == 0;  // the same for all items
    const auto room = [&]<class N>(N, int64_t n) {
      return reinterpret_cast<N*>(
          r.scratch(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(N)));
    };
    std::vector<LoudWindow> loud;
    std::vector<Give> results;
    std::vector<SumTask> greatest, first, last;
    const auto reduce = [](void* from, DType type, int64_t n, void* to) {
      return SumTask{
          View::dense(from, type, {n}), {true}, nullptr, static_cast<std::byte*>(to), type};
    };
    with_type(r.items[0].inputs[0].dtype, [&](auto v) {
      using T = decltype(v);
      std::vector<BlockPower<T>> blocks;
      for (size_t i = 0; i < items.size(); ++i) {
        const BatchItem& item = r.items[i];
        const Strided in = Strided::of(item.inputs[0]);
        const int64_t size = item.inputs[0].full[0];
        const int64_t window = std::min<int64_t>(items[i]->window_length, size);
        const WindowPower<T> windows{in.data + in.offset, in.stride[0], size, window};
        const int64_t n = size > 0 ? windows.count() : 0, some = size > 0 ? windows.blocks() : 0;
        // Blocks are as long as the window, so their sums follow one another.
        double *sums = room(double{}, some * window), *most = room(double{}, 1);
        int32_t *numbers = room(int32_t{}, n), *found = room(int32_t{}, 2);
        blocks.push_back({windows, sums, some});
        if (n > 0) greatest.push_back(reduce(sums, DType::kFloat64, n, most));
        loud.push_back({sums, is_relative ? most : nullptr, items[i]->limit(window), numbers, n});
        first.push_back(reduce(numbers, DType::kUint32, n, found));
        last.push_back(reduce(numbers, DType::kInt32, n, found + 1));
        results.push_back({found, found + 1, window, item.outputs[0].as<int32_t>(),
                           item.outputs[1].as<int32_t>(), 1});
      }
      run_each(r, std::span<const BlockPower<T>>(blocks));
    });
    if (is_relative) sum_up<Greatest>(r, greatest);
    run_each(r, std::span<const LoudWindow>(loud));
    sum_up<Least>(r, first);
    sum_up<Greatest>(r, last);
    run_each(r, std::span<const Give>(results));
  }

  static std::vector<Case> cases() {
    return {
        {"window_length=2", {"float32 [0, 0, 0, 1, 0, 0]"}, {"int32 2", "int32 3"}},
        {"window_length=1, reference_power=1.0, cutoff_db=-7.0",
         {"float32 [0.25, 0.5, -0.5, 0.25]"},
         {"int32 1", "int32 2"}},
        {"window_length=1, reference_power=1.0", {"int16 [0, 0]"}, {"int32 0", "int32 0"}},
        {"", {"uint8 [0, 7]"}, {"int32 0", "int32 2"}},
    };
  }
};

}  // namespace stoker::ops::audio

STOKER_OPERATOR(stoker::ops::audio::NonsilentRegion)
