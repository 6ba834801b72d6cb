// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"
#include "op/resize/displaced.cuh"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Water : DisplacementArguments {
  float ampl_x = 10, ampl_y = 10, freq_x = 0.049087f, freq_y = 0.049087f, phase_x = 0, phase_y = 0;

  // How far the pixels of a row lie to the right, and those of a column further down.
  struct Waves {
    double ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y;
    STOKER_HD double right(double y) const {
      using exact::Num;
      return (Num(ampl_x) * exact::sin((Num(y) * freq_x + phase_x).v)).v;
    }
    STOKER_HD double down(double x) const {
      using exact::Num;
      return (Num(ampl_y) * exact::cos((Num(x) * freq_y + phase_y).v)).v;
    }
    STOKER_HD Coordinates operator()(int64_t y, int64_t x) const {
      const auto row = static_cast<double>(y), column = static_cast<double>(x);
      return {detail::add_once(row, down(column)), detail::add_once(column, right(row))};
    }
  };

  static constexpr auto schema = describe(
      "water",
      "Shows an image as if through moving water.\n\n"
      "The pixel at (x, y) shows what lies at x + ampl_x * sin(freq_x * y + phase_x), "
      "y + ampl_y * cos(freq_y * x + phase_y), where the corner of the image is (0, 0). Accepts "
      "any dtype.",
      kDisplacementInputs, kDisplacementOutputs, kDisplacementArguments,
      arg(&Water::ampl_x, "ampl_x", "Amplitude along x in pixels."),
      arg(&Water::ampl_y, "ampl_y", "Amplitude along y in pixels."),
      arg(&Water::freq_x, "freq_x", "Frequency of the wave along x, in radians per row."),
      arg(&Water::freq_y, "freq_y", "Frequency of the wave along y, in radians per column."),
      arg(&Water::phase_x, "phase_x", "Phase of the wave along x in radians."),
      arg(&Water::phase_y, "phase_y", "Phase of the wave along y in radians."));

  Waves waves() const {
    return {shortest(ampl_x), shortest(ampl_y),  shortest(freq_x),
            shortest(freq_y), shortest(phase_x), shortest(phase_y)};
  }
  void run_cpu(Run& r) const {
    const Waves w = waves();
    const View& out = r.outputs[0];
    auto* down = r.scratch.array<double>(static_cast<size_t>(out.shape[1]));
    for (int64_t k = 0; k < out.shape[1]; ++k)
      down[k] = w.down(static_cast<double>(out.origin[1] + k));
    run(r, [&](int64_t y, int64_t x, int64_t n, double* ys, double* xs) {
      const auto row = static_cast<double>(y);
      const double right = w.right(row);
      at_cpu_level([=] {
        for (int64_t k = 0; k < n; ++k) ys[k] = row + down[k];
        for (int64_t k = 0; k < n; ++k) xs[k] = static_cast<double>(x + k) + right;
      });
    });
  }
  static void run_gpu(GpuRun& r, std::span<const Water* const> items) {
    run(r, items, [&](size_t i) { return items[i]->waves(); });
  }

  static std::vector<Case> cases() {
    return {
        {"ampl_x=0.0, ampl_y=1.0, freq_y=0.0, fill_value=9.0",
         {"uint8 HWC [[[1], [2]], [[3], [4]]]"},
         {"uint8 [[[3], [4]], [[9], [9]]]"}},
        {"ampl_x=0.0, ampl_y=1.0, freq_y=0.0, interp_type=types.INTERP_LINEAR, fill_value=2.0",
         {"float32 HWC [[[4]], [[8]]]"},
         {"float32 [[[4]], [[3.5]]]"}},
        {"mask=0", {"int16 HWC [[[5, 6]]]"}, {"int16 [[[5, 6]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Water)
