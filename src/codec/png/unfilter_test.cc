// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/png/unfilter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace stoker {
namespace {

// As PNG's specification words it.
uint8_t predicted(int filter, int left, int up, int corner) {
  const int p = left + up - corner;
  const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
  switch (filter) {
    case 1: return static_cast<uint8_t>(left);
    case 2: return static_cast<uint8_t>(up);
    case 3: return static_cast<uint8_t>((left + up) / 2);
    case 4: return static_cast<uint8_t>(a <= b && a <= c ? left : b <= c ? up : corner);
    default: return 0;
  }
}

TEST(Unfilter, DoesWhatTheSpecificationSays) {
  std::mt19937 random(3);
  for (const int step : {1, 2, 3, 4, 6, 8})
    for (int filter = 0; filter < kPngFilters; ++filter)
      for (int pixels = 0; pixels < 40; ++pixels) {
        const size_t size = static_cast<size_t>(pixels * step), all = kBeforeRow + size + 8;
        std::vector<uint8_t> filtered(size + 8), above(all), row(all), want(all);
        for (uint8_t& v : filtered) v = static_cast<uint8_t>(random());
        for (size_t i = 0; i < size; ++i) above[kBeforeRow + i] = static_cast<uint8_t>(random());
        for (size_t i = kBeforeRow; i < kBeforeRow + size; ++i) {
          const size_t before = i - static_cast<size_t>(step);
          want[i] = static_cast<uint8_t>(filtered[i - kBeforeRow] +
                                         predicted(filter, want[before], above[i], above[before]));
        }
        unfilter(filter, step, filtered.data(), above.data() + kBeforeRow, row.data() + kBeforeRow,
                 static_cast<int64_t>(size));
        row.resize(kBeforeRow + size);
        want.resize(row.size());
        ASSERT_EQ(row, want) << "filter " << filter << " step " << step << " pixels " << pixels;
      }
}

}  // namespace
}  // namespace stoker
