// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/byte_medians.h"

#include <algorithm>

#include "kernels/levels.h"

namespace stoker {
namespace {

using Histogram = ByteMedians::Histogram;

// The counts of one window of a row, which moves to the right.
class SlidingWindow {
 public:
  // The first window begins with `columns`, which are `stride` apart.
  SlidingWindow(const Histogram* columns, int64_t width, int64_t stride)
      : columns_(columns), width_(width), stride_(stride) {
    for (int64_t k = 0; k < width; ++k) add(bin_, column(k).bin);
    std::fill_n(made_, 16, INT64_MIN);
  }
  void go_right() {
    ++at_;
    add(bin_, column(at_ + width_ - 1).bin);
    subtract(bin_, column(at_ - 1).bin);
  }
  // The value that at most `rank` others are smaller than.
  uint8_t value(int rank) {
    const int g = find(bin_, rank);
    bring_up(g);
    return static_cast<uint8_t>(16 * g + find(value_[g], rank));
  }

 private:
  const Histogram& column(int64_t k) const { return columns_[k * stride_]; }
  static void add(uint16_t* to, const uint16_t* from) {
    for (int i = 0; i < 16; ++i) to[i] = static_cast<uint16_t>(to[i] + from[i]);
  }
  static void subtract(uint16_t* to, const uint16_t* from) {
    for (int i = 0; i < 16; ++i) to[i] = static_cast<uint16_t>(to[i] - from[i]);
  }
  // The first place where the counts exceed `rank`, less the counts before it.
  static int find(const uint16_t* counts, int& rank) {
    int i = 0;
    for (; rank >= counts[i]; ++i) rank -= counts[i];
    return i;
  }
  // Counts the values of a bin for the window where it is now.
  void bring_up(int g) {
    uint16_t* counts = value_[g];
    if (made_[g] < at_ - width_ / 2) {
      std::fill_n(counts, 16, uint16_t{0});
      for (int64_t k = 0; k < width_; ++k) add(counts, column(at_ + k).value[g]);
    } else {
      for (int64_t k = made_[g]; k < at_; ++k) {
        add(counts, column(k + width_).value[g]);
        subtract(counts, column(k).value[g]);
      }
    }
    made_[g] = at_;
  }

  const Histogram* columns_;
  int64_t width_, stride_, at_ = 0;
  int64_t made_[16];  // where each bin was brought up
  uint16_t bin_[16] = {}, value_[16][16];
};

}  // namespace

ByteMedians::ByteMedians(int64_t height, int64_t width, int64_t stride, int64_t count,
                         Arena& scratch)
    : height_(height),
      width_(width),
      stride_(stride),
      count_(count),
      columns_(scratch.array<Histogram>(static_cast<size_t>(count + (width - 1) * stride))) {}

void ByteMedians::run(const uint8_t* const* rows, const uint8_t* left, uint8_t* out) {
  const int64_t columns = count_ + (width_ - 1) * stride_;
  if (!left) std::fill_n(columns_, columns, Histogram{});
  for (int64_t y = left ? height_ - 1 : 0; y < height_; ++y)
    for (int64_t x = 0; x < columns; ++x) {
      const uint8_t v = rows[y][x];
      ++columns_[x].bin[v / 16], ++columns_[x].value[v / 16][v % 16];
    }
  for (int64_t x = 0; left && x < columns; ++x) {
    const uint8_t v = left[x];
    --columns_[x].bin[v / 16], --columns_[x].value[v / 16][v % 16];
  }
  const int half = static_cast<int>(height_ * width_ / 2);
  at_cpu_level([=, this] {
    for (int64_t c = 0; c < stride_; ++c) {
      SlidingWindow window(columns_ + c, width_, stride_);
      for (int64_t x = c; x < count_; x += stride_) {
        if (x > c) window.go_right();
        out[x] = window.value(half);
      }
    }
  });
}

}  // namespace stoker
