// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares every SIMD target with plain loops over the same arithmetic.
#include "kernels/rows/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/block.h"
#include "kernels/resample/fixed_point.h"
#include "kernels/rows/line.h"
#include "kernels/rows/mix.h"
#include "kernels/rows/rows_testing.h"

namespace stoker {
namespace {

class EveryTarget : public test::OnTarget {};

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

// Lists shorter and longer than what a byte can be, also between other steps.
TEST_P(EveryTarget, LooksUpWholeNumbersOfAllTypes) {
  for (int type = 0; type < 12; ++type) {
    const auto from = static_cast<DType>(type);
    if (info(from).is_float) continue;
    for (DType to : {DType::kUint8, DType::kInt16, DType::kFloat32, DType::kFloat64})
      for (int64_t entries : {3, 256, 1000})
        for (int64_t n : {1, 63, 64, 130}) {
          std::vector<float> values(static_cast<size_t>(entries));
          for (float& v : values) v = static_cast<float>(pick(0, 255));
          const auto lists = table_lists(values, 1, 77, to);
          auto in = noise<std::byte>(static_cast<size_t>(n * size_of(from)));
          for (int64_t i = 0; i < n; i += 2)  // half of the numbers are small
            for (int b = 1; b < size_of(from); ++b)
              in[static_cast<size_t>(i * size_of(from) + b)] = std::byte{};
          const ValueStep steps[] = {
              {from, to, false, 0, 1, 0, lists->bytes.data(), lists->entries},
              {to, DType::kFloat32, true, 1, 2, 3},
              {DType::kFloat32, DType::kInt64, false, 0, 1, 0},
              {DType::kInt64, to, false, 0, 1, 0, lists->bytes.data(), lists->entries}};
          const auto answer = [&](int64_t k) {
            const float v = k < 0 || k >= entries ? 77 : values[static_cast<size_t>(k)];
            return static_cast<int64_t>(v);
          };
          std::vector<std::byte> once(static_cast<size_t>(n) * 8), twice(once);
          rows::apply({steps, 1}, in.data(), once.data(), n);
          rows::apply(steps, in.data(), twice.data(), n);
          std::vector<int64_t> k(static_cast<size_t>(n)), a(k), b(k);
          convert_row(in.data(), from, k.data(), DType::kInt64, n);
          convert_row(once.data(), to, a.data(), DType::kInt64, n);
          convert_row(twice.data(), to, b.data(), DType::kInt64, n);
          for (size_t i = 0; i < k.size(); ++i) {
            ASSERT_EQ(a[i], answer(k[i])) << name_of(from) << ' ' << name_of(to) << ' ' << k[i];
            ASSERT_EQ(b[i], answer((answer(k[i]) - 1) * 2 + 3));
          }
        }
  }
}

// Bytes are mixed within one level of the exact result, and the same for all lengths of rows.
TEST_P(EveryTarget, MixesBytes) {
  std::uniform_real_distribution<float> real(-1, 1);
  for (int in = 1; in <= 4; ++in)
    for (int out = 1; out <= 4; ++out)
      for (const float most : {1.0f, 1.9f, 7.0f, 31.0f})
        for (int64_t n : {1, 7, 8, 33, 150}) {
          Channels c{in, out, {}, {}};
          for (auto& row : c.weight)
            for (float& w : row) w = most * real(rng_);
          for (float& o : c.offset) o = 100 * real(rng_);
          const ChannelMix m = channel_mix(c, DType::kUint8, DType::kUint8);
          ASSERT_TRUE(m.fixed);
          const int64_t pitch = n + 3;
          const auto planes = noise<uint8_t>(static_cast<size_t>(pitch * in));
          std::vector<uint8_t> made(static_cast<size_t>(pitch * out), 77);
          rows::mix(m, planes.data(), pitch, made.data(), pitch, n);
          for (int o = 0; o < out; ++o)
            for (int64_t i = 0; i < pitch; ++i) {
              const int level = made[static_cast<size_t>(o * pitch + i)];
              const auto value = [&](int k) { return planes[static_cast<size_t>(k * pitch + i)]; };
              double exact = static_cast<double>(c.offset[o]);
              for (int k = 0; k < in; ++k) exact += static_cast<double>(c.weight[o][k]) * value(k);
              ASSERT_EQ(level, i < n ? mix_fixed(m, o, value) : 77);
              if (i < n) {
                ASSERT_NEAR(level, std::clamp(exact, 0.0, 255.0), 1) << most;
              }
            }
          ASSERT_EQ(rows::mixes_pixels(m), in == 3 && out == 3);
          if (!rows::mixes_pixels(m)) continue;
          const auto pixels = noise<std::byte>(static_cast<size_t>(3 * n));
          std::vector<std::byte> mixed(static_cast<size_t>(3 * n + 1), std::byte{77});
          rows::mix_pixels(m, pixels.data(), mixed.data(), n);
          for (size_t i = 0; i < pixels.size(); ++i) {
            const auto value = [&](int k) {
              return std::to_integer<int>(pixels[i / 3 * 3 + static_cast<size_t>(k)]);
            };
            ASSERT_EQ(std::to_integer<int>(mixed[i]), mix_fixed(m, static_cast<int>(i % 3), value));
          }
          ASSERT_EQ(mixed.back(), std::byte{77});
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

TEST_P(EveryTarget, ScalesBytesAsOneByOne) {
  const float huge = 3.4e38f, infinite = std::numeric_limits<float>::infinity();
  for (float mul : {0.0f, 1.0f, 0.5f, -0.5f, 1.0f / 3, 1.25f, -2.0f, huge, -huge, infinite})
    for (float add : {0.0f, 0.5f, -0.5f, 127.5f, 300.0f, huge, -huge, -infinite}) {
      const int64_t n = pick(0, 300);
      const ValueStep step{DType::kUint8, DType::kUint8, true, 0, mul, add};
      const auto in = noise<uint8_t>(static_cast<size_t>(n));
      std::vector<uint8_t> got(in.size() + 1, 77), want(got);
      pointwise_row(in.data(), step.from, want.data(), step.to, n, 0, mul, add);
      rows::apply({&step, 1}, in.data(), got.data(), n);
      ASSERT_EQ(got, want) << mul << ' ' << add << ' ' << n;
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
        std::vector<float> pixels(static_cast<size_t>(channels * out + 1), 77);
        rows::sum_pixels(row.data(), real_taps, pixels.data());
        ASSERT_EQ(pixels.back(), 77);
        for (int c = 0; c < channels; ++c) {
          for (int64_t o = 0; o < out; ++o) {
            float sum = 0;
            for (int t = 0; t < real.taps[o]; ++t) {
              const auto i = static_cast<size_t>((real.first[o] + t) * channels + c);
              sum = t ? sum + real.row(o)[t] * row[i] : real.row(o)[t] * row[i];
            }
            ASSERT_EQ(pixels[static_cast<size_t>(channels * o + c)], sum)
                << channels << ' ' << extent << ' ' << out << ' ' << o;
          }
        }
      }
}

TEST_P(EveryTarget, SumsWideRows) {
  for (DType type : {DType::kFloat64, DType::kInt32, DType::kUint32, DType::kInt64, DType::kUint8})
    for (int taps : {1, 2, 5})
      for (int64_t n : {1, 3, 8, 255, 256, 257, 600}) {
        const int64_t stride = n * size_of(type) + 3;
        const auto values = noise<double>(static_cast<size_t>(n));
        std::vector<std::byte> in(static_cast<size_t>(stride * taps));
        std::vector<double> weights, want(static_cast<size_t>(n)), got(want.size() + 1, 77);
        for (int t = 0; t < taps; ++t) {
          weights.push_back(t % 2 ? -0.3 : 1.1);
          std::byte* row = &in[static_cast<size_t>(t * stride)];
          convert_row(values.data(), DType::kFloat64, row, type, n);
          for (int64_t i = 0; i < n; ++i) {
            double v;
            convert_row(row + i * size_of(type), type, &v, DType::kFloat64, 1);
            double& sum = want[static_cast<size_t>(i)];
            sum = t ? sum + weights.back() * v : weights.back() * v;
          }
        }
        rows::sum_rows(in.data(), type, stride, weights.data(), taps, n, got.data());
        ASSERT_EQ(got.back(), 77);
        got.pop_back();
        ASSERT_EQ(got, want) << name_of(type) << ' ' << taps << ' ' << n;
      }
}

// The results lie at an odd address.
TEST_P(EveryTarget, SumsWidePixels) {
  for (Filter filter : {Filter::kLinear, Filter::kLanczos3})
    for (int channels = 1; channels <= 4; ++channels)
      for (int64_t extent : {1, 2, 9, 150})
        for (int64_t out : {1, 4, 13, 200}) {
          const ResampleAxis axis{0, out, 0, static_cast<double>(extent), filter, 3};
          Arena arena;
          const bool mirrored = pick(0, 1);
          const auto taps = tap_table<double>(axis, extent, mirrored ? out - 1 : 0,
                                              mirrored ? -1 : 1, out, arena);
          const auto values = static_cast<size_t>((taps.end - taps.begin) * channels);
          const auto row = noise<double>(values + rows::kWideSlack);
          std::vector<std::byte> got(static_cast<size_t>(8 * out * channels) + 2, std::byte{77});
          rows::sum_pixels(row.data(), channels, taps, &got[1]);
          for (int64_t i = 0; i < out * channels; ++i) {
            const int64_t o = i / channels, first = (taps.first[o] - taps.begin) * channels;
            double sum = 0, made;
            for (int t = 0; t < taps.taps[o]; ++t) {
              const double v =
                  taps.row(o)[t] * row[static_cast<size_t>(first + t * channels + i % channels)];
              sum = t ? sum + v : v;
            }
            std::memcpy(&made, &got[static_cast<size_t>(1 + 8 * i)], sizeof made);
            ASSERT_EQ(made, sum) << channels << ' ' << extent << ' ' << out << ' ' << i;
          }
          ASSERT_EQ(got.back(), std::byte{77});
        }
}

TEST_P(EveryTarget, RoundsWideValuesAsConversionDoes) {
  std::vector<double> values = {2147483646.5, 2147483647.5, 2147483648, -2147483648.5, -2147483650};
  for (float v : hard_values()) values.push_back(v);
  const auto n = static_cast<int64_t>(values.size());
  for (DType type : {DType::kInt32, DType::kUint32, DType::kInt64, DType::kFloat64}) {
    std::vector<std::byte> want(values.size() * 8), got(want);
    convert_row(values.data(), DType::kFloat64, want.data(), type, n);
    rows::round(values.data(), type, got.data(), n);
    ASSERT_EQ(got, want) << name_of(type);
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

INSTANTIATE_TEST_SUITE_P(Rows, EveryTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
