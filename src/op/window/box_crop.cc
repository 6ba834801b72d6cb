// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/box_crop.h"

#include <algorithm>
#include <string>

#include "op/rules.h"

namespace stoker {
namespace {

constexpr double kTiny = 1e-6;  // what rounding may change of a ratio

// Adjusts extents to ratios that have one value. The largest extent stays.
void fit(const BoxCrop& c, const double* full, double* extent) {
  const auto is_one = [&](int pair) { return c.ratio[pair].least == c.ratio[pair].most; };
  double size[SpaceBox::kMost] = {}, largest = 0;
  for (int a = 0; a < c.dims; ++a) {
    size[a] = extent[a] * full[a];
    largest = std::max(largest, extent[a]);
  }
  if (is_one(0)) size[1] = size[0] / c.ratio[0].least;
  if (c.dims == 3 && is_one(1)) {
    size[2] = size[0] / c.ratio[1].least;
    if (is_one(2) && !is_one(0)) size[1] = size[2] * c.ratio[2].least;
  } else if (c.dims == 3 && is_one(2)) {
    size[2] = size[1] / c.ratio[2].least;
  }
  double reached = 0;
  for (int a = 0; a < c.dims; ++a) reached = std::max(reached, size[a] / full[a]);
  for (int a = 0; a < c.dims && reached > 0; ++a) extent[a] = size[a] / full[a] * largest / reached;
}

}  // namespace

double SpaceBox::volume(int dims) const {
  double v = 1;
  for (int a = 0; a < dims; ++a) v *= std::max(hi[a] - lo[a], 0.0);
  return v;
}

double common_volume(const SpaceBox& a, const SpaceBox& b, int dims) {
  SpaceBox both;
  for (int k = 0; k < dims; ++k) {
    both.lo[k] = std::max(a.lo[k], b.lo[k]);
    both.hi[k] = std::min(a.hi[k], b.hi[k]);
  }
  return both.volume(dims);
}

BoxLayout::BoxLayout(const Layout& letters) : dims_(letters.rank() / 2) {
  constexpr std::string_view kStart = "xyz", kEnd = "XYZ", kSize = "WHD";
  is_size_ = letters.find('W') >= 0;
  bool fits = letters.rank() == 4 || letters.rank() == 6;
  for (int a = 0; fits && a < dims_; ++a) {
    start_[a] = letters.find(kStart[static_cast<size_t>(a)]);
    end_[a] = letters.find((is_size_ ? kSize : kEnd)[static_cast<size_t>(a)]);
    fits = start_[a] >= 0 && end_[a] >= 0;
  }
  require(fits, "the layout of the boxes is ", letters,
          ", expected the letters xyXY, xyWH, xyzXYZ or xyzWHD in any order");
}

SpaceBox BoxLayout::read(const float* row) const {
  SpaceBox b;
  for (int a = 0; a < dims_; ++a) {
    b.lo[a] = static_cast<double>(row[start_[a]]);
    const float end = is_size_ ? row[start_[a]] + row[end_[a]] : row[end_[a]];
    b.hi[a] = static_cast<double>(end);
  }
  return b;
}

void BoxLayout::write(const SpaceBox& box, float* row) const {
  for (int a = 0; a < dims_; ++a) {
    row[start_[a]] = static_cast<float>(box.lo[a]);
    row[end_[a]] = static_cast<float>(is_size_ ? box.hi[a] - box.lo[a] : box.hi[a]);
  }
}

bool BoxCrop::has_ratios(const double* extent) const {
  const double x = extent[0] * full[0], y = extent[1] * full[1];
  const auto fits = [](const Bounds& r, double a, double b) {
    return a >= r.least * b * (1 - kTiny) && a <= r.most * b * (1 + kTiny);
  };
  if (!fits(ratio[0], x, y)) return false;
  if (dims == 2) return true;
  const double z = extent[2] * full[2];
  return fits(ratio[1], x, z) && fits(ratio[2], y, z);
}

bool BoxCrop::choose_position(Chance& chance, Found& f) const {
  double extent[SpaceBox::kMost];
  for (int a = 0; a < dims; ++a)
    extent[a] = is_fixed ? crop[a] / full[a]
                         : static_cast<double>(chance.uniform(static_cast<float>(scaling.least),
                                                              static_cast<float>(scaling.most)));
  if (!is_fixed) {
    fit(*this, full, extent);
    if (!has_ratios(extent)) return false;
  }
  for (int a = 0; a < dims; ++a) {
    if (is_fixed) {
      const auto room = static_cast<int64_t>(full[a] - crop[a]), low = std::min<int64_t>(room, 0);
      f.anchor[a] = static_cast<double>(low + chance.uniform_int(std::abs(room) + 1));
      f.extent[a] = crop[a];
      f.window.lo[a] = f.anchor[a] / full[a];
    } else {
      const auto room = static_cast<float>(1 - extent[a]);
      const float at = chance.uniform(std::min(room, 0.0f), std::max(room, 0.0f));
      f.anchor[a] = f.window.lo[a] = static_cast<double>(at);
      f.extent[a] = extent[a];
    }
    f.window.hi[a] = f.window.lo[a] + extent[a];
  }
  return true;
}

double BoxCrop::overlap(std::span<const SpaceBox> boxes, const SpaceBox& window) const {
  double reached = all_boxes || boxes.empty() ? 1 : 0;
  const double area = window.volume(dims);
  for (const SpaceBox& b : boxes) {
    const double both = common_volume(b, window, dims), own = b.volume(dims);
    const double whole = by_joint_area ? own + area - both : own;
    const double share = whole > 0 ? both / whole : 0;
    reached = all_boxes ? std::min(reached, share) : std::max(reached, share);
  }
  return reached;
}

bool BoxCrop::keeps(const SpaceBox& box, const SpaceBox& window) const {
  if (least_visible) {
    const double both = common_volume(box, window, dims);
    return both > 0 && both >= *least_visible * box.volume(dims) * (1 - kTiny);
  }
  for (int a = 0; a < dims; ++a) {
    const double centre = (box.lo[a] + box.hi[a]) / 2;
    if (centre < window.lo[a] || centre >= window.hi[a]) return false;
  }
  return true;
}

BoxCrop::Found BoxCrop::draw(std::span<const SpaceBox> boxes, Chance& chance) const {
  Found best;
  double best_overlap = -1;
  int64_t done = 0;
  const int64_t enough = total_attempts < 0 ? kMostAttempts : total_attempts;
  while (done < enough) {
    const auto k = chance.uniform_int(static_cast<int64_t>(options.size()));
    const Option& option = options[static_cast<size_t>(k)];
    if (option.whole) {
      Found f;
      f.whole = true;
      for (int a = 0; a < dims; ++a) f.extent[a] = f.window.hi[a] = 1;
      for (size_t b = 0; b < boxes.size(); ++b) f.kept.push_back(b);
      return f;
    }
    for (int i = 0; i < attempts && done < std::max(enough, kMostAttempts); ++i) {
      ++done;
      Found f;
      if (!choose_position(chance, f)) continue;
      for (size_t b = 0; b < boxes.size(); ++b)
        if (keeps(boxes[b], f.window)) f.kept.push_back(b);
      const double reached = overlap(boxes, f.window);
      const bool has_boxes = !f.kept.empty() || boxes.empty();
      if (has_boxes && reached >= option.threshold) return f;
      // Any window that keeps a box is better than one that keeps none.
      const double value = (has_boxes ? 2 : 0) + reached;
      if (value > best_overlap) best = std::move(f), best_overlap = value;
    }
  }
  require(total_attempts >= 0, "no window was good in ", done,
          " attempts; allow_no_crop or total_num_attempts would end the search");
  require(best_overlap >= 0, "no window had fitting aspect ratios in ", done, " attempts");
  return best;
}

SpaceBox seen_in(const SpaceBox& box, const SpaceBox& window, int dims) {
  SpaceBox seen;
  for (int a = 0; a < dims; ++a) {
    const double extent = window.hi[a] - window.lo[a];
    const auto share = [&](double v) { return std::clamp((v - window.lo[a]) / extent, 0.0, 1.0); };
    seen.lo[a] = share(box.lo[a]);
    seen.hi[a] = share(box.hi[a]);
  }
  return seen;
}

}  // namespace stoker
