// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/size.h"

#include <cmath>

namespace stoker {

namespace {

constexpr double kThinnest = 1e-3;    // in input pixels
constexpr double kMost = 0x1p62;  // larger than any output that is allowed
constexpr double kMostStretch = 10;  // the most that rounding a tiny size stretches the interval

// Widens an interval that is too thin, around its centre.
void widen(double& lo, double& hi) {
  if (std::fabs(hi - lo) >= kThinnest) return;
  const double middle = (lo + hi) / 2, half = std::copysign(kThinnest / 2, hi - lo);
  lo = middle - half;
  hi = middle + half;
}

struct Scales {
  int count = 0;
  double product = 1, least = HUGE_VAL, most = 0;
};

// The scale of axes without a size: the geometric mean of the other scales. At most two other axes
// have a size, so a square root suffices.
double mean_of(const Scales& s) { return s.count == 2 ? std::sqrt(s.product) : s.product; }

class Sizes {
 public:
  explicit Sizes(const ResizeRequest& r) : r_(r) {
    for (int i = 0; i < r.rank; ++i) {
      in_[i] = std::fabs(r.hi[i] - r.lo[i]);
      if (r.size[i] == 0) continue;
      const double scale = std::fabs(r.size[i]) / in_[i];
      ++scales_.count;
      scales_.product *= scale;
      scales_.least = std::min(scales_.least, scale);
      scales_.most = std::max(scales_.most, scale);
    }
  }

  // The size of an output axis, not yet rounded; negative if the axis is mirrored.
  double operator[](int i) const {
    const bool together = r_.mode == ResizeMode::kNotSmaller || r_.mode == ResizeMode::kNotLarger;
    if (together) return std::copysign(in_[i] * common_scale(), r_.size[i]);
    const double size = alone(i);
    return r_.max_size[i] > 0 && std::fabs(size) > r_.max_size[i]
               ? std::copysign(r_.max_size[i], size)
               : size;
  }

 private:
  double alone(int i) const {
    if (r_.size[i] != 0) return r_.size[i];
    return r_.mode == ResizeMode::kDefault && scales_.count > 0 ? in_[i] * mean_of(scales_)
                                                                : in_[i];
  }
  double common_scale() const {
    double scale = r_.mode == ResizeMode::kNotSmaller ? scales_.most : scales_.least;
    if (scales_.count == 0) scale = 1;
    for (int i = 0; i < r_.rank; ++i)
      if (r_.max_size[i] > 0) scale = std::min(scale, r_.max_size[i] / in_[i]);
    return scale;
  }

  const ResizeRequest& r_;
  double in_[kMaxSpatial] = {};
  Scales scales_;
};

}  // namespace

ResizeResult resize_extents(const ResizeRequest& request) {
  ResizeRequest r = request;
  for (int i = 0; i < r.rank; ++i) widen(r.lo[i], r.hi[i]);
  const Sizes sizes(r);
  ResizeResult result;
  for (int i = 0; i < r.rank; ++i) {
    const double size = sizes[i], exact_size = std::fabs(size);
    result.out[i] = std::max<int64_t>(1, std::llround(std::min(exact_size, kMost)));
    double lo = r.lo[i], hi = r.hi[i];
    if (size < 0) std::swap(lo, hi);
    if (r.subpixel_scale && exact_size != static_cast<double>(result.out[i])) {
      const double stretch =
          std::min(static_cast<double>(result.out[i]) / exact_size, kMostStretch);
      const double middle = (lo + hi) / 2, half = (hi - lo) / 2 * stretch;
      lo = middle - half;
      hi = middle + half;
    }
    result.lo[i] = lo;
    result.hi[i] = hi;
  }
  return result;
}

}  // namespace stoker
