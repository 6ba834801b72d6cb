// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A random window that keeps bounding boxes, for random_bbox_crop and ssd_random_crop.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/chance/philox.h"
#include "base/view.h"

namespace stoker {

// A box or a window in two or three dimensions: x, y, z, as shares of the picture's extents.
struct SpaceBox {
  static constexpr int kMost = 3;
  double lo[kMost] = {}, hi[kMost] = {};

  double volume(int dims) const;
};
double common_volume(const SpaceBox& a, const SpaceBox& b, int dims);

// Where a row has the coordinates of a box, by letters: x y z of the start, and X Y Z of the end or
// W H D of the size.
class BoxLayout {
 public:
  explicit BoxLayout(const Layout& letters);  // throws WrongCall
  int dims() const { return dims_; }
  SpaceBox read(const float* row) const;
  void write(const SpaceBox& box, float* row) const;

 private:
  int dims_, start_[SpaceBox::kMost], end_[SpaceBox::kMost];
  bool is_size_;
};

// How windows are drawn, and which are good.
struct BoxCrop {
  struct Option {  // one of several that are equally likely
    bool whole = false;  // no window: the picture as it is
    double threshold = 0;  // the least overlap with boxes
  };
  struct Bounds {
    double least = 1, most = 1;
  };
  int dims = 2;
  std::vector<Option> options;
  bool by_joint_area = true;  // the overlap is a share of the joint area; else of the box's own
  bool all_boxes = true;  // all of them reach the threshold; else one does
  std::optional<double> least_visible;  // share of a box; none: its centre is in the window
  int attempts = 1;  // with one option
  int64_t total_attempts = -1;  // after which no other option is tried; -1: until a window is good
  Bounds scaling;
  Bounds ratio[SpaceBox::kMost] = {};  // of extents x / y, x / z, y / z
  double full[SpaceBox::kMost] = {1, 1, 1};  // extents of the picture
  bool is_fixed = false;  // windows have the extents `crop`, and whole places
  double crop[SpaceBox::kMost] = {};

  struct Found {
    bool whole = false;
    SpaceBox window;
    double anchor[SpaceBox::kMost] = {}, extent[SpaceBox::kMost] = {};  // in pixels if is_fixed
    std::vector<size_t> kept;  // the boxes that are left
  };
  // An attempt takes two draws for each axis if windows are fixed. Else it takes one for each
  // extent and, if their ratios are good, one for each place. An option takes two draws. Throws
  // WrongCall if no window is good. Requires: there is an option.
  Found draw(std::span<const SpaceBox> boxes, Chance& chance) const;

 private:
  static constexpr int64_t kMostAttempts = 100000;

  bool choose_position(Chance& chance, Found& f) const;
  bool has_ratios(const double* extent) const;
  // The least overlap with the boxes, or the greatest if one of them is enough.
  double overlap(std::span<const SpaceBox> boxes, const SpaceBox& window) const;
  bool keeps(const SpaceBox& box, const SpaceBox& window) const;
};

// The box's part in the window, in shares of the window's extents.
SpaceBox seen_in(const SpaceBox& box, const SpaceBox& window, int dims);

}  // namespace stoker
