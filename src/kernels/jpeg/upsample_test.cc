// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares upsampling and the change of colours, on every SIMD target, with plain loops.
#include "kernels/jpeg/upsample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/jpeg/ycc.h"
#include "kernels/rows/rows_testing.h"

namespace stoker {
namespace {

using jpeg::Component;

struct Factors {
  int down, across;
};
constexpr Factors kAllFactors[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 1},
                                   {1, 4}, {4, 2}, {2, 4}, {3, 3}};

// A whole component with nothing behind its last sample, for sanitizers.
struct Stored {
  std::vector<uint8_t> samples;
  Component component;

  // The pixel, computed with fractions.
  uint8_t want(int64_t y, int64_t x) const {
    const Component& c = component;
    const auto at = [&](int64_t row, int64_t column) -> int {
      row = std::clamp<int64_t>(row, 0, c.rows - 1);
      column = std::clamp<int64_t>(column, 0, c.columns - 1);
      return samples[static_cast<size_t>(row * c.columns + column)];
    };
    const int64_t row = y / c.down, column = x / c.across;
    const bool narrow = c.across == 2 && c.columns <= 2;
    if (c.down > 2 || c.across > 2 || narrow) return static_cast<uint8_t>(at(row, column));
    const int64_t far_row = c.down == 1 ? row : y % 2 ? row + 1 : row - 1;
    const int64_t far_column = c.across == 1 ? column : x % 2 ? column + 1 : column - 1;
    const double value = 9 * at(row, column) + 3 * at(far_row, column) + 3 * at(row, far_column) +
                         at(far_row, far_column);
    // Halves go up in odd rows or columns, down in even ones; for both, by columns and sixteenths.
    if (c.across == 2 && c.down == 2)
      return static_cast<uint8_t>(std::floor((value + (x % 2 ? 7 : 8)) / 16));
    const int64_t turn = c.down == 2 ? y : x;
    return static_cast<uint8_t>(std::floor(value / 16 + (turn % 2 ? 0.5 : 0.25)));
  }
};

class UpsampleOnTarget : public test::OnTarget {
 protected:
  Stored make(int64_t rows, int64_t columns, Factors f) {
    Stored s{noise<uint8_t>(static_cast<size_t>(rows * columns)), {}};
    s.component = {s.samples.data(), columns, 0, 0, rows, columns, f.down, f.across};
    return s;
  }
  static void compare(const Component& c, const Stored& whole, int64_t y, int64_t begin,
                      int64_t end) {
    const int64_t last = (end + c.across - 1) / c.across * c.across;
    std::vector<uint8_t> got(static_cast<size_t>(last - begin)), want(got);
    jpeg::upsample(c, y, begin, end, got.data());
    for (int64_t x = begin; x < last; ++x) want[static_cast<size_t>(x - begin)] = whole.want(y, x);
    ASSERT_EQ(got, want) << "factors " << c.down << ' ' << c.across << ", row " << y << ", ["
                         << begin << ", " << end << ") of " << c.columns << " samples";
  }
};

TEST_P(UpsampleOnTarget, MakesWholeRowsOfAnyWidth) {
  for (const Factors f : kAllFactors)
    for (int64_t columns = 1; columns <= 70; ++columns) {
      const Stored s = make(3, columns, f);
      for (int64_t y = 0; y < 3 * f.down; ++y)
        compare(s.component, s, y, 0, columns * f.across - (f.across > 1 ? columns % 2 : 0));
    }
}

TEST_P(UpsampleOnTarget, MakesComponentsOfOneRow) {
  for (const Factors f : kAllFactors) {
    const Stored s = make(1, 40, f);
    for (int64_t y = 0; y < f.down; ++y) compare(s.component, s, y, 0, 40 * f.across);
  }
}

// The window, in memory of its own, holds only the samples that are needed.
TEST_P(UpsampleOnTarget, NeedsAWindowOnly) {
  for (const Factors f : kAllFactors)
    for (const int64_t begin : {0, 1, 30, 66})
      for (const int64_t end : {67, 99, 100}) {
        const Stored s = make(5, 100, f);
        const int64_t beside = s.component.is_smooth();
        Component c = s.component;
        c.first_column = std::max<int64_t>(begin - beside, 0);
        c.stride = std::min<int64_t>(end + beside, 100) - c.first_column;
        for (int64_t row = 0; row < 5; ++row) {
          c.first_row = std::max<int64_t>(row - beside, 0);
          const int64_t last_row = std::min<int64_t>(row + beside, 4);
          std::vector<uint8_t> window;
          for (int64_t k = c.first_row; k <= last_row; ++k)
            window.insert(window.end(), s.component.row(k) + c.first_column,
                          s.component.row(k) + c.first_column + c.stride);
          c.samples = window.data();
          for (int64_t y = row * f.down; y < (row + 1) * f.down; ++y)
            compare(c, s, y, begin * f.across, end * f.across);
        }
      }
}

TEST_P(UpsampleOnTarget, MakesColors) {
  const auto of = [](double v) { return static_cast<uint8_t>(std::clamp(v, 0.0, 255.0)); };
  // The weights as libjpeg has them: multiples of 2^-16, each product rounded.
  const auto rounded = [](double v) { return std::floor(v / 65536 + 0.5); };
  for (int64_t n = 1; n <= 200; ++n)
    for (const bool blue_first : {false, true}) {
      const auto size = static_cast<size_t>(n);
      const auto y = noise<uint8_t>(size), cb = noise<uint8_t>(size), cr = noise<uint8_t>(size);
      std::vector<uint8_t> got(3 * size), want(got);
      jpeg::ycc_to_rgb(y.data(), cb.data(), cr.data(), got.data(), n, blue_first);
      for (size_t i = 0; i < size; ++i) {
        const double b = cb[i] - 128.0, r = cr[i] - 128.0;
        want[3 * i] = of(y[i] + rounded(91881 * r));
        want[3 * i + 1] = of(y[i] + rounded(-22554 * b - 46802 * r));
        want[3 * i + 2] = of(y[i] + rounded(116130 * b));
        if (blue_first) std::swap(want[3 * i], want[3 * i + 2]);
      }
      ASSERT_EQ(got, want) << n;
    }
}

// All chroma there is, with luma at which neither end is clamped.
TEST_P(UpsampleOnTarget, MakesAllColors) {
  const std::vector<uint8_t> y(256, 128);
  std::vector<uint8_t> cb(256), cr(256), got(768);
  for (size_t i = 0; i < 256; ++i) cb[i] = static_cast<uint8_t>(i);
  for (int v = 0; v < 256; ++v) {
    std::fill(cr.begin(), cr.end(), static_cast<uint8_t>(v));
    jpeg::ycc_to_rgb(y.data(), cb.data(), cr.data(), got.data(), 256, false);
    for (int i = 0; i < 256; ++i) {
      const double green =
          128 + std::floor((-22554.0 * (i - 128) - 46802.0 * (v - 128)) / 65536 + 0.5);
      ASSERT_EQ(got[static_cast<size_t>(3 * i + 1)], std::clamp(green, 0.0, 255.0))
          << i << ' ' << v;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UpsampleOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
