// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/displaced.cuh"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Sphere : DisplacementArguments {
  struct Ball {
    double centre_y, centre_x, radius;
    STOKER_HD Coordinates operator()(int64_t y, int64_t x) const {
      const double down = static_cast<double>(y) + 0.5 - centre_y,
                   right = static_cast<double>(x) + 0.5 - centre_x;
      const double squares =
          detail::add_once(detail::mul_once(down, down), detail::mul_once(right, right));
      const double factor = detail::div_once(std::sqrt(squares), radius);
      return {detail::add_once(centre_y, detail::mul_once(down, factor)),
              detail::add_once(centre_x, detail::mul_once(right, factor))};
    }
  };

  static constexpr auto schema = describe(
      "sphere",
      "Shows an image as if through a glass ball.\n\n"
      "What a pixel shows lies in its direction from the centre, at its squared distance divided "
      "by half of the image's larger extent, cut down to whole pixels. Accepts any dtype.",
      kDisplacementInputs, kDisplacementOutputs, kDisplacementArguments);

  static Ball ball(const Shape& s) {
    // An image of one pixel shows itself.
    const int64_t radius = std::max<int64_t>({s[0] / 2, s[1] / 2, 1});
    return {static_cast<double>(s[0]) / 2, static_cast<double>(s[1]) / 2,
            static_cast<double>(radius)};
  }
  void run_cpu(Run& r) const {
    const Ball b = ball(r.inputs[0].full);
    run(r, [&](int64_t y, int64_t x, int64_t n, double* ys, double* xs) {
      at_cpu_level([=] {
        for (int64_t k = 0; k < n; ++k) {
          const Coordinates at = b(y, x + k);
          ys[k] = at.y, xs[k] = at.x;
        }
      });
    });
  }
  static void run_gpu(GpuRun& r, std::span<const Sphere* const> items) {
    run(r, items, [&](size_t i) { return ball(r.items[i].inputs[0].full); });
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"uint8 HWC [[[1], [2], [3], [4], [5], [6]]]"},
         {"uint8 [[[1], [3], [3], [4], [4], [6]]]"}},
        {"interp_type=types.INTERP_LINEAR", {"float32 HWC [[[1, 2]]]"}, {"float32 [[[1, 2]]]"}},
        {"mask=0", {"int16 HWC [[[5, 6], [7, 8]]]"}, {"int16 [[[5, 6], [7, 8]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Sphere)
