// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/masks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace stoker::stores {

namespace {

// Note [Outlines]
// The outline is drawn on a grid of kSteps points a pixel, edge by edge, with one point for each
// step along the longer axis of an edge. Where it passes from one column of points to the next, and
// that one is the middle of a pixel's column, the pixels of this column from there down change from
// outside to inside or back. So the mask is what lies behind an odd number of such crossings. An
// edge has at most one crossing in a column of the picture, and only this point is looked for: an
// edge costs as much as the columns that it crosses, however far its ends lie outside.
constexpr int64_t kSteps = 5, kMiddleStep = kSteps / 2;

struct Point {
  int64_t x, y;
};

// No picture is larger.
constexpr double kFarthest = 1 << 16;

Point on_grid(float x, float y) {
  const auto grid = [](float v) {
    // A coordinate that is not a number lies at 0.
    const double at = std::isnan(v) ? 0 : std::clamp<double>(v, -kFarthest, kFarthest);
    return static_cast<int64_t>(std::trunc(static_cast<double>(kSteps) * at + 0.5));
  };
  return {grid(x), grid(y)};
}

class Outline {
 public:
  Outline(int64_t height, int64_t width) : height_(height), width_(width) {}

  void edge(Point a, Point b) {
    const int64_t across = std::abs(b.x - a.x), down = std::abs(b.y - a.y);
    if (across == 0) return;
    const bool is_flat = across >= down;
    // An edge is drawn from its upper or left end, so that it has the same points both ways.
    if (is_flat ? a.x > b.x : a.y > b.y) std::swap(a, b);
    const int64_t steps = std::max(across, down);
    const double slope = is_flat ? static_cast<double>(b.y - a.y) / static_cast<double>(across)
                                 : static_cast<double>(b.x - a.x) / static_cast<double>(down);
    const auto at = [&](int64_t step) {
      const auto beside = [&](int64_t from) {
        const double to = static_cast<double>(from) + slope * static_cast<double>(step);
        return static_cast<int64_t>(std::trunc(to + 0.5));
      };
      return is_flat ? Point{a.x + step, beside(a.y)} : Point{beside(a.x), a.y + step};
    };
    const int64_t first = at(0).x, last = at(steps).x;
    const int64_t left = std::min(first, last), right = std::max(first, last);
    const int64_t begin = left <= kMiddleStep ? 0 : (left - kMiddleStep + kSteps - 1) / kSteps;
    for (int64_t x = begin; x < width_ && x * kSteps + kMiddleStep < right; ++x) {
      const auto is_beyond = [&](int64_t step) {
        const bool is_right = at(step).x > x * kSteps + kMiddleStep;
        return is_right == (first < last);
      };
      // The first step beyond the middle. The edge goes one way.
      int64_t before = 0, beyond = steps;
      while (beyond - before > 1) {
        const int64_t step = (before + beyond) / 2;
        (is_beyond(step) ? beyond : before) = step;
      }
      cross(x, std::min(at(before).y, at(beyond).y));
    }
  }

  // Positions of pixels in columns, from each of which on the mask changes.
  std::vector<int64_t> crossings() {
    drop_pairs();
    return std::move(crossings_);
  }

 private:
  // From this point of the grid on down.
  void cross(int64_t x, int64_t grid_y) {
    const double y = (static_cast<double>(grid_y) + 0.5) / static_cast<double>(kSteps) - 0.5;
    crossings_.push_back(x * height_ + static_cast<int64_t>(std::ceil(
                                           std::clamp(y, 0.0, static_cast<double>(height_)))));
    if (crossings_.size() < most_) return;
    drop_pairs();
    most_ = std::max(kLeastRoom, 2 * crossings_.size());
  }

  // Two crossings at one place change nothing. Without such pairs there are no more crossings than
  // pixels, however long the outline is.
  void drop_pairs() {
    std::sort(crossings_.begin(), crossings_.end());
    auto to = crossings_.begin();
    for (const int64_t at : crossings_) {
      if (to != crossings_.begin() && to[-1] == at) --to;
      else *to++ = at;
    }
    crossings_.erase(to, crossings_.end());
  }

  static constexpr size_t kLeastRoom = 1 << 16;
  int64_t height_, width_;
  std::vector<int64_t> crossings_;  // in order and without pairs only behind drop_pairs()
  size_t most_ = kLeastRoom;
};

// Sets the pixels [begin, end), which count down the columns.
void paint_columns(int64_t begin, int64_t end, int64_t height, int64_t width, int32_t value,
                   int32_t* rows) {
  while (begin < end) {
    const int64_t x = begin / height, y = begin % height;
    const int64_t n = std::min(end - begin, height - y);
    for (int64_t i = 0; i < n; ++i) rows[(y + i) * width + x] = value;
    begin += n;
  }
}

}  // namespace

RunLengths parse_run_lengths(std::string_view text) {
  // Each character carries five bits and whether more follow. From the fourth number on it is the
  // difference to the number two places before.
  constexpr int kBits = 5, kMostBits = 40;
  RunLengths runs;
  for (size_t at = 0; at < text.size();) {
    int64_t value = 0;
    int shift = 0;
    bool more = true;
    const size_t begin = at;
    while (more) {
      const int c = at < text.size() ? text[at] - 48 : -1;
      if (c < 0 || c > 63 || shift > kMostBits)
        throw SampleError("the compressed run lengths of a mask are damaged at character " +
                          std::to_string(begin));
      value |= static_cast<int64_t>(c & 0x1f) << shift;
      more = c & 0x20;
      shift += kBits;
      ++at;
      if (!more && (c & 0x10)) value -= int64_t{1} << shift;
    }
    if (runs.size() > 2) value += runs[runs.size() - 2];
    if (value < 0 || value > int64_t{0xffffffff})
      throw SampleError("the compressed run lengths of a mask have a run of " +
                        std::to_string(value) + " pixels");
    runs.push_back(static_cast<uint32_t>(value));
  }
  return runs;
}

void paint(std::span<const uint32_t> runs, int64_t height, int64_t width, int32_t value,
           int32_t* rows) {
  int64_t all = 0;
  for (const uint32_t run : runs) all += run;
  if (all != height * width)
    throw SampleError("the run lengths of a mask are " + std::to_string(all) +
                      " pixels long, and the picture has " + std::to_string(height) + " x " +
                      std::to_string(width));
  int64_t at = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i % 2 == 1) paint_columns(at, at + runs[i], height, width, value, rows);
    at += runs[i];
  }
}

void paint_polygon(std::span<const float> xy, int64_t height, int64_t width, int32_t value,
                   int32_t* rows) {
  const size_t corners = xy.size() / 2;
  if (corners == 0 || height == 0 || width == 0) return;
  Outline outline(height, width);
  const auto corner = [&](size_t i) {
    return on_grid(xy[2 * (i % corners)], xy[2 * (i % corners) + 1]);
  };
  for (size_t i = 0; i < corners; ++i) outline.edge(corner(i), corner(i + 1));
  const std::vector<int64_t> at = outline.crossings();
  for (size_t i = 0; i < at.size(); i += 2)
    paint_columns(at[i], i + 1 < at.size() ? at[i + 1] : height * width, height, width, value,
                  rows);
}

}  // namespace stoker::stores
