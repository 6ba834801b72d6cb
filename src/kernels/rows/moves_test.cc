// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares what only moves values, on every SIMD target, with plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/rows/gather.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/rows_testing.h"
#include "kernels/rows/transpose.h"

namespace stoker {
namespace {

class MovesOnTarget : public test::OnTarget {};

TEST_P(MovesOnTarget, SplitsAndJoinsPixels) {
  for (int size : {1, 2, 4, 8})
    for (int channels = 1; channels <= 5; ++channels)
      for (int64_t n : {1, 5, 16, 33, 150}) {
        const auto pixels = noise<uint8_t>(static_cast<size_t>(n * channels * size));
        const int64_t pitch = n * size + 8;
        std::vector<uint8_t> planes(static_cast<size_t>(pitch * channels)), back(pixels.size());
        rows::split(pixels.data(), size, channels, planes.data(), pitch, n);
        for (int64_t i = 0; i < n; ++i)
          for (int c = 0; c < channels; ++c)
            ASSERT_EQ(std::memcmp(&planes[static_cast<size_t>(c * pitch + i * size)],
                                  &pixels[static_cast<size_t>((i * channels + c) * size)],
                                  static_cast<size_t>(size)),
                      0);
        rows::join(planes.data(), pitch, size, channels, back.data(), n);
        ASSERT_EQ(back, pixels);
      }
}

TEST_P(MovesOnTarget, ReversesRows) {
  for (int size : {1, 2, 4, 8})
    for (int64_t n = 1; n < 140; ++n) {
      const auto before = noise<uint8_t>(static_cast<size_t>(n * size));
      std::vector<uint8_t> row(before.size());
      rows::reverse(before.data(), row.data(), size, n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(std::memcmp(&row[static_cast<size_t>(i * size)],
                              &before[static_cast<size_t>((n - 1 - i) * size)],
                              static_cast<size_t>(size)),
                  0)
            << size << ' ' << n;
    }
}

// Forwards and backwards, with and without gaps. Nothing else is read or written.
TEST_P(MovesOnTarget, CopiesUnits) {
  for (const int64_t size : {1, 3, 5, 32, 63, 64, 65, 130, 5000})
    for (const int64_t gap : {0, 7})
      for (const bool mirrored : {false, true}) {
        constexpr int64_t kUnits = 5;
        const int64_t step = size + gap, last = (kUnits - 1) * step;
        const auto from = noise<uint8_t>(static_cast<size_t>(last + size));
        std::vector<uint8_t> to(from.size(), 77), want(to);
        for (int64_t i = 0; i < kUnits; ++i)
          std::memcpy(&want[static_cast<size_t>(i * step)],
                      &from[static_cast<size_t>(mirrored ? last - i * step : i * step)],
                      static_cast<size_t>(size));
        rows::copy(from.data() + (mirrored ? last : 0), mirrored ? -step : step, to.data(), step,
                   size, kUnits);
        ASSERT_EQ(to, want) << size << ' ' << gap << ' ' << mirrored;
      }
}

// Backwards, with steps, repeats, or at random; with memory of the exact size for sanitizers.
TEST_P(MovesOnTarget, GathersUnits) {
  for (int size : {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32})
    for (int64_t n : {1, 2, 5, 16, 17, 63, 64, 65, 200})
      for (int kind = 0; kind < 5; ++kind) {
        std::vector<int64_t> from(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) {
          const int64_t unit = kind == 0   ? n - 1 - i
                               : kind == 1 ? 2 * i
                               : kind == 2 ? i / 2
                               : kind == 3 ? i - i % 3 + 2 - i % 3
                                           : pick(0, n - 1);
          from[static_cast<size_t>(i)] = unit * size;
        }
        const int64_t end = *std::max_element(from.begin(), from.end()) + size;
        const auto in = noise<std::byte>(static_cast<size_t>(end));
        std::vector<std::byte> got(static_cast<size_t>(n * size) + 1, std::byte{77}), want(got);
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(&want[static_cast<size_t>(i * size)], &in[static_cast<size_t>(from[i])],
                      static_cast<size_t>(size));
        Arena arena;
        const rows::Picks picks = rows::picks_of(size, from.data(), n, arena);
        if (kind == 0 && size == 3 && n == 200) {
          ASSERT_EQ(picks.shuffle != nullptr, rows::shuffle_bytes() > 0);
        }
        rows::gather(picks, in.data(), got.data());
        ASSERT_EQ(got, want) << size << ' ' << n << ' ' << kind;
      }
}

TEST_P(MovesOnTarget, RepeatsAUnit) {
  for (int size : {1, 2, 3, 7, 8, 24, 5000})
    for (int64_t n : {0, 1, 2, 3, 100, 3000}) {
      const auto unit = noise<std::byte>(static_cast<size_t>(size));
      std::vector<std::byte> got(static_cast<size_t>(n * size) + 1, std::byte{77});
      rows::repeat(unit.data(), size, got.data(), n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(std::memcmp(&got[static_cast<size_t>(i * size)], unit.data(), unit.size()), 0);
      ASSERT_EQ(got.back(), std::byte{77});
    }
}

TEST_P(MovesOnTarget, Transposes) {
  for (int size : {1, 2, 3, 4, 8, 12})
    for (int64_t h : {1, 2, 5, 16, 17, 70})
      for (int64_t w : {1, 3, 15, 16, 33, 300}) {
        const int64_t in_stride = h * size + 5, out_stride = w * size + 3;
        const auto in = noise<std::byte>(static_cast<size_t>((w - 1) * in_stride + h * size));
        const auto before = noise<std::byte>(static_cast<size_t>(h * out_stride));
        auto got = before, want = before;
        for (int64_t y = 0; y < h; ++y)
          for (int64_t x = 0; x < w; ++x)
            std::memcpy(&want[static_cast<size_t>(y * out_stride + x * size)],
                        &in[static_cast<size_t>(x * in_stride + y * size)],
                        static_cast<size_t>(size));
        rows::transpose(in.data(), in_stride, got.data(), out_stride, size, h, w);
        ASSERT_EQ(got, want) << size << ' ' << h << ' ' << w;
      }
}

TEST_P(MovesOnTarget, CopiesPixelsOfAnySize) {
  for (int size : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 40}) {
    const int64_t n = 9, from = size + 2, to = size + 1;
    const auto in = noise<std::byte>(static_cast<size_t>(n * from));
    std::vector<std::byte> got(static_cast<size_t>(n * to)), want(got);
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(&want[static_cast<size_t>(i * to)], &in[static_cast<size_t>(i * from)],
                  static_cast<size_t>(size));
    rows::copy(in.data(), from, got.data(), to, size, n);
    ASSERT_EQ(got, want) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, MovesOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace stoker
