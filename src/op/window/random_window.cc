// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/random_window.h"

#include <cmath>

#include "op/rules.h"

namespace stoker {

namespace {

void check_range(const char* name, const Small<float>& range, bool above_zero) {
  require(range.size() == 2 && range[0] <= range[1] && range[1] > 0 && std::isfinite(range[1]) &&
              (!above_zero || range[0] > 0),
          name, " takes (least, most)", above_zero ? ", both above 0 and finite" : "", ", got ",
          range);
}

struct Size {
  int64_t height, width;
};

struct WindowLimits {
  int64_t height, width;
  double least_area, most_area;    // in pixels
  double least_ratio, most_ratio;  // width / height

  WindowLimits(const RandomWindowArguments& a, int64_t h, int64_t w)
      : height(h),
        width(w),
        least_area(a.random_area[0] * area(h, w)),
        most_area(a.random_area[1] * area(h, w)),
        least_ratio(a.random_aspect_ratio[0]),
        most_ratio(a.random_aspect_ratio[1]) {}
  static double area(int64_t h, int64_t w) {
    return static_cast<double>(h) * static_cast<double>(w);
  }

  int64_t widest() const { return whole(static_cast<double>(height) * most_ratio); }
  int64_t tallest() const { return whole(static_cast<double>(width) / least_ratio); }
  bool fits(const Size& s) const {
    const double ratio = static_cast<double>(s.width) / static_cast<double>(s.height);
    return s.width <= width && s.height <= height && ratio >= least_ratio && ratio <= most_ratio;
  }
  // Rounds down to at least one whole pixel.
  static int64_t whole(double x) {
    return std::max<int64_t>(1, static_cast<int64_t>(std::min(x, 0x1p62)));
  }
};

Size draw_size(const WindowLimits& limits, Chance& chance) {
  const double area = limits.least_area + (limits.most_area - limits.least_area) * chance.uniform();
  const double low = exact::log(limits.least_ratio), high = exact::log(limits.most_ratio);
  const double ratio = exact::exp(low + (high - low) * chance.uniform());
  return {WindowLimits::whole(std::sqrt(area / ratio) + 0.5),
          WindowLimits::whole(std::sqrt(area * ratio) + 0.5)};
}

Size largest_size(const WindowLimits& limits) {
  Size s{limits.height, limits.width};
  const double ratio = static_cast<double>(limits.width) / static_cast<double>(limits.height);
  if (ratio > limits.most_ratio) s.width = limits.widest();
  else if (ratio < limits.least_ratio) s.height = limits.tallest();
  const double shrink =
      std::sqrt(std::min(1.0, limits.most_area / WindowLimits::area(s.height, s.width)));
  return {WindowLimits::whole(static_cast<double>(s.height) * shrink),
          WindowLimits::whole(static_cast<double>(s.width) * shrink)};
}

Size random_size(const WindowLimits& limits, int attempts, Chance& chance) {
  // In very wide or tall pictures, no window of an allowed ratio has the least area.
  if (WindowLimits::area(limits.height, limits.widest()) < limits.least_area)
    return {limits.height, limits.widest()};
  if (WindowLimits::area(limits.tallest(), limits.width) < limits.least_area)
    return {limits.tallest(), limits.width};
  for (int i = 0; i < attempts; ++i)
    if (const Size s = draw_size(limits, chance); limits.fits(s)) return s;
  return largest_size(limits);
}

}  // namespace

void check_random_window(const RandomWindowArguments& a) {
  check_range("argument 'random_area'", a.random_area, false);
  check_range("argument 'random_aspect_ratio'", a.random_aspect_ratio, true);
}

PlaneWindow random_window(const RandomWindowArguments& a, int64_t height, int64_t width,
                          Chance chance) {
  const Size s = random_size(WindowLimits(a, height, width), a.num_attempts, chance);
  PlaneWindow w{0, 0, s.height, s.width};
  w.y = chance.uniform_int(height - w.height + 1);
  w.x = chance.uniform_int(width - w.width + 1);
  return w;
}

}  // namespace stoker
