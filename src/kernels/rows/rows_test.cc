// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares every SIMD target with plain loops over the same arithmetic.
#include "kernels/rows/rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/resample/fixed_point.h"
#include "kernels/rows/line.h"
#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

using testing::Instructions;

class EveryTarget : public ::testing::TestWithParam<Instructions> {
 protected:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  template <class T>
  std::vector<T> noise(size_t n) {
    std::vector<T> v(n);
    for (T& x : v) {
      if constexpr (std::is_floating_point_v<T>)
        x = std::uniform_real_distribution<T>(-300, 300)(rng_);
      else x = static_cast<T>(rng_());
    }
    return v;
  }
  std::mt19937 rng_{7};
  const testing::Forced forced_{GetParam()};
};

// Values around every rounding, infinities and NaN.
std::vector<float> hard_values() {
  std::vector<float> v = {0,
                          -0.0f,
                          0.5f,
                          1.5f,
                          2.5f,
                          -0.5f,
                          -1.5f,
                          126.5f,
                          127.5f,
                          128,
                          254.5f,
                          255.5f,
                          256,
                          -128.5f,
                          -129,
                          32767.5f,
                          32768,
                          -32768.5f,
                          -40000,
                          65534.5f,
                          65535.5f,
                          70000,
                          65504,
                          65519.9f,
                          65520,
                          1e10f,
                          -1e10f,
                          1e-8f,
                          2.9802322e-8f,
                          2.9802326e-8f,
                          6.1e-5f,
                          6.103515625e-5f,
                          5.9604645e-8f,
                          1e-40f,
                          3.4e38f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  for (int i = 0; i < 300; ++i) v.push_back((static_cast<float>(i) - 150) * 0.37f);
  return v;
}

const DType kNarrow[] = {DType::kUint8,   DType::kInt8,    DType::kUint16, DType::kInt16,
                         DType::kFloat16, DType::kFloat32, DType::kBool};

TEST_P(EveryTarget, StepsBetweenAllNarrowTypes) {
  const auto values = hard_values();
  const auto n = static_cast<int64_t>(values.size());
  for (DType from : kNarrow)
    for (DType between : kNarrow)
      for (DType to : kNarrow) {
        std::vector<std::byte> in(values.size() * 4), want(in), got(in), middle(in);
        convert_row(values.data(), DType::kFloat32, in.data(), from, n);
        const ValueStep steps[] = {{from, between, true, 3, 1.25f, -0.375f},
                                   {between, to, false, 0, 1, 0}};
        pointwise_row(in.data(), from, middle.data(), between, n, 3, 1.25f, -0.375f);
        convert_row(middle.data(), between, want.data(), to, n);
        rows::apply(steps, in.data(), got.data(), n);
        ASSERT_EQ(std::memcmp(got.data(), want.data(), static_cast<size_t>(n) * size_of(to)), 0)
            << name_of(from) << ' ' << name_of(between) << ' ' << name_of(to);
      }
}

TEST_P(EveryTarget, StepsWriteNoMoreThanTheirRow) {
  for (int64_t n = 1; n < 70; ++n) {
    const auto in = noise<uint8_t>(static_cast<size_t>(n));
    std::vector<float> out(static_cast<size_t>(n) + 1, -1);
    const ValueStep step{DType::kUint8, DType::kFloat32, true, 1, 2, 3};
    rows::apply({&step, 1}, in.data(), out.data(), n);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], (static_cast<float>(in[i]) - 1) * 2 + 3);
    ASSERT_EQ(out.back(), -1);
  }
}

TEST_P(EveryTarget, SplitsAndJoinsPixels) {
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

TEST_P(EveryTarget, ReversesRows) {
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

// Weights of both signs that sum to one, as filters have them.
std::vector<int16_t> fixed_weights(std::vector<double> w) {
  double sum = 0;
  for (double x : w) sum += x;
  for (double& x : w) x /= sum;
  std::vector<int16_t> q(w.size() + w.size() % 2);
  quantise(w, q.data());
  return q;
}

TEST_P(EveryTarget, SumsRows) {
  for (int taps : {1, 2, 3, 4, 7, 40})
    for (int64_t n : {1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 200}) {
      const int64_t stride = n + 3;
      const auto in = noise<uint8_t>(static_cast<size_t>(stride * (taps - 1) + n));
      std::vector<double> w;
      for (int t = 0; t < taps; ++t) w.push_back(t % 4 == 3 ? -0.1 : 1.0 + t % 3);
      const auto fixed = fixed_weights(w);
      std::vector<int16_t> got(static_cast<size_t>(n) + 1, 77);
      rows::sum_rows(in.data(), stride, fixed.data(), taps, n, got.data());
      const std::vector<float> real(w.begin(), w.end());
      std::vector<float> got_float(static_cast<size_t>(n) + 1, 77);
      rows::sum_rows(in.data(), DType::kUint8, stride, real.data(), taps, n, got_float.data());
      for (int64_t i = 0; i < n; ++i) {
        int32_t sum = 0;
        float sum_float = real[0] * in[static_cast<size_t>(i)];
        for (int t = 0; t < taps; ++t) {
          const auto v = in[static_cast<size_t>(t * stride + i)];
          sum += fixed[static_cast<size_t>(t)] * v;
          if (t) sum_float = sum_float + real[static_cast<size_t>(t)] * v;
        }
        ASSERT_EQ(got[static_cast<size_t>(i)], fixed_between_u8(sum))
            << taps << ' ' << n << ' ' << i;
        ASSERT_EQ(got_float[static_cast<size_t>(i)], sum_float);
      }
      ASSERT_EQ(got.back(), 77);
      ASSERT_EQ(got_float.back(), 77);
    }
}

TEST_P(EveryTarget, SumsPixels) {
  for (int channels = 1; channels <= 4; ++channels)
    for (int64_t extent : {1, 2, 9, 150})
      for (int64_t out : {1, 4, 13, 200}) {
        const double scale = std::max(1.0, static_cast<double>(extent) / static_cast<double>(out));
        const ResampleAxis axis{0,        out, 0, static_cast<double>(extent), Filter::kLanczos3,
                                3 * scale};
        Arena arena;
        const bool mirrored = pick(0, 1);
        const int64_t start = mirrored ? out - 1 : 0, step = mirrored ? -1 : 1;
        const auto real = tap_table<float>(axis, extent, start, step, out, arena);
        const auto real_taps = rows::pixel_taps(real, channels, arena);
        const auto row =
            noise<float>(static_cast<size_t>(extent * channels + rows::row_slack(real_taps)));
        std::vector<float> quads(static_cast<size_t>(4 * out + rows::kQuadSlack));
        rows::sum_pixels(row.data(), real_taps, quads.data());
        for (int c = 0; c < channels; ++c) {
          for (int64_t o = 0; o < out; ++o) {
            float sum = 0;
            for (int t = 0; t < real.taps[o]; ++t) {
              const auto i = static_cast<size_t>((real.first[o] + t) * channels + c);
              sum = t ? sum + real.row(o)[t] * row[i] : real.row(o)[t] * row[i];
            }
            ASSERT_EQ(quads[static_cast<size_t>(4 * o + c)], sum)
                << channels << ' ' << extent << ' ' << out << ' ' << o;
          }
        }
      }
}

TEST_P(EveryTarget, SplitsWords) {
  for (int channels = 2; channels <= 4; ++channels)
    for (int64_t n : {1, 7, 8, 16, 31, 32, 33, 150}) {
      const int64_t pitch = n + rows::kVectorSlack + 3;
      const auto pixels = noise<int16_t>(static_cast<size_t>((n + rows::kVectorSlack) * channels));
      std::vector<int16_t> planes(static_cast<size_t>(pitch * channels));
      rows::split_words(pixels.data(), channels, planes.data(), pitch, n);
      for (int64_t i = 0; i < n; ++i)
        for (int c = 0; c < channels; ++c)
          ASSERT_EQ(planes[static_cast<size_t>(c * pitch + i)],
                    pixels[static_cast<size_t>(i * channels + c)])
              << channels << ' ' << n << ' ' << i;
    }
}

// All ways of Note [Lines], with every type that results can become.
TEST_P(EveryTarget, SumsLines) {
  std::set<int> reaches;
  for (Filter filter : {Filter::kLinear, Filter::kTriangular, Filter::kLanczos3})
    for (int64_t out : {1, 4, 13, 16, 17, 33, 200})
      for (double scale : {0.3, 0.9, 1.0, 1.27, 1.8, 2.05, 3.9, 4.2, 11.0}) {
        const auto extent = static_cast<int64_t>(std::ceil(static_cast<double>(out) * scale));
        const double unit = filter == Filter::kLanczos3 ? 3 : 1;
        ResampleAxis axis{
            0, out, 0, static_cast<double>(out) * scale, filter, unit * std::max(1.0, scale)};
        if (pick(0, 1)) std::swap(axis.lo, axis.hi);
        Arena arena;
        const bool backwards = pick(0, 1);
        const auto table = tap_table<int16_t>(axis, extent, backwards ? out - 1 : 0,
                                              backwards ? -1 : 1, out, arena);
        const auto taps = rows::line_taps(table, arena);
        reaches.insert(taps.reach);
        std::vector<int16_t> line(
            static_cast<size_t>(table.end - table.begin + rows::line_slack(taps)), 12345);
        for (int64_t i = 0; i < table.end - table.begin; ++i)
          line[static_cast<size_t>(i)] = static_cast<int16_t>(pick(-2000, 255 * 64));
        std::vector<uint8_t> want(static_cast<size_t>(out)), got(want.size() + 1, 7);
        for (int64_t o = 0; o < out; ++o) {
          int32_t sum = 0;
          for (int t = 0; t < table.taps[o]; ++t)
            sum += table.row(o)[t] * line[static_cast<size_t>(table.first[o] + t - table.begin)];
          want[static_cast<size_t>(o)] = fixed_result(sum);
        }
        rows::sum_lines({line.data(), 1, 0, nullptr, false, got.data()}, taps);
        ASSERT_EQ(got.back(), 7);
        got.pop_back();
        ASSERT_EQ(got, want) << static_cast<int>(filter) << ' ' << out << ' ' << scale;
        for (DType to : {DType::kFloat16, DType::kFloat32})
          for (bool pointwise : {false, true}) {
            const ValueStep step = pointwise
                                       ? ValueStep{DType::kUint8, to, true, 124, -0.017f, 0.3f}
                                       : ValueStep{DType::kUint8, to, false, 0, 1, 0};
            ASSERT_TRUE(rows::sums_into(step));
            const auto n = static_cast<size_t>(out) * static_cast<size_t>(size_of(to));
            std::vector<std::byte> real(n), sums(n + 1, std::byte{7});
            pointwise_row(want.data(), DType::kUint8, real.data(), to, out, step.sub, step.mul,
                          step.add);
            rows::sum_lines({line.data(), 1, 0, &step, false, sums.data()}, taps);
            ASSERT_EQ(sums.back(), std::byte{7});
            sums.pop_back();
            ASSERT_EQ(sums, real);
          }
      }
  EXPECT_TRUE(reaches.count(rows::LineTaps::kTight) && reaches.count(rows::LineTaps::kNear) &&
              reaches.count(rows::LineTaps::kEights));
  EXPECT_EQ(reaches.count(rows::LineTaps::kFar), HWY_ARCH_X86 && GetParam().target <= HWY_AVX3);
}

TEST_P(EveryTarget, HalvesOfNumbersThatAreNone) {
  const uint32_t bits[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7fffffff, 0xffffffff};
  for (uint32_t b : bits) {
    std::vector<float> in(40, __builtin_bit_cast(float, b));
    std::vector<uint16_t> out(in.size());
    const ValueStep step{DType::kFloat32, DType::kFloat16, false, 0, 1, 0};
    rows::apply({&step, 1}, in.data(), out.data(), static_cast<int64_t>(in.size()));
    for (uint16_t h : out) ASSERT_EQ(h, b >> 31 ? 0xfe00 : 0x7e00);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryTarget, ::testing::ValuesIn(testing::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
