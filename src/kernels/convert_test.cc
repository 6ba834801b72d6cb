// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace stoker {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Half, EveryValueSurvivesTheWayThere) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = to_float(Half{static_cast<uint16_t>(h)});
    if ((h & 0x7fff) > 0x7c00) {
      EXPECT_NE(f, f);
      EXPECT_EQ(to_half(f).bits, (h & 0x8000) | 0x7e00);
    } else {
      EXPECT_EQ(to_half(f).bits, h);
      EXPECT_EQ(to_half(static_cast<double>(f)).bits, h);
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(to_float(Half{0x3c00}), 1.0f);
  EXPECT_EQ(to_float(Half{0xc000}), -2.0f);
  EXPECT_EQ(to_float(Half{0x7bff}), 65504.0f);
  EXPECT_EQ(to_float(Half{0x0001}), 0x1p-24f);
  EXPECT_EQ(to_float(Half{0x03ff}), 1023 * 0x1p-24f);
  EXPECT_EQ(to_float(Half{0x7c00}), kInf);
}

TEST(Half, RoundsToNearestTiesToEven) {
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    const double low = to_float(Half{static_cast<uint16_t>(h)});
    const double high = h == 0x7bff ? 65536.0 : to_float(Half{static_cast<uint16_t>(h + 1)});
    const double middle = (low + high) / 2;
    const auto even = static_cast<uint16_t>(h & 1 ? h + 1 : h);
    for (int sign : {0, 0x8000}) {
      const double s = sign ? -1 : 1;
      EXPECT_EQ(to_half(static_cast<float>(s * middle)).bits, sign | even);
      EXPECT_EQ(to_half(s * middle).bits, sign | even);
      EXPECT_EQ(to_half(s * std::nextafter(middle, 0)).bits, sign | h);
      EXPECT_EQ(to_half(s * std::nextafter(middle, 1e9)).bits, sign | (h + 1));
      EXPECT_EQ(
          to_half(static_cast<float>(s) * std::nextafterf(static_cast<float>(middle), 0)).bits,
          sign | h);
      EXPECT_EQ(
          to_half(static_cast<float>(s) * std::nextafterf(static_cast<float>(middle), 1e9f)).bits,
          sign | (h + 1));
    }
  }
  EXPECT_EQ(to_half(1e-300).bits, 0);
  EXPECT_EQ(to_half(-1e300).bits, 0xfc00);
  EXPECT_EQ(to_half(kInf).bits, 0x7c00);
}

TEST(Convert, FloatToIntegerRoundsHalvesAwayFromZeroAndSaturates) {
  EXPECT_EQ(convert<uint8_t>(0.5f), 1);
  EXPECT_EQ(convert<uint8_t>(1.5f), 2);
  EXPECT_EQ(convert<uint8_t>(2.5f), 3);
  EXPECT_EQ(convert<uint8_t>(254.5f), 255);
  EXPECT_EQ(convert<uint8_t>(255.5f), 255);
  EXPECT_EQ(convert<uint8_t>(-kInf), 0);
  EXPECT_EQ(convert<int8_t>(-200.0f), -128);
  EXPECT_EQ(convert<int8_t>(-0.5f), -1);
  EXPECT_EQ(convert<int8_t>(-1.5f), -2);
  EXPECT_EQ(convert<int16_t>(kInf), 32767);
  EXPECT_EQ(convert<int32_t>(3e9f), 2147483647);
  EXPECT_EQ(convert<int32_t>(2147483646.5), 2147483647);
  EXPECT_EQ(convert<int64_t>(4503599627370497.0), 4503599627370497);  // 2^52 + 1
  EXPECT_EQ(convert<int64_t>(-9007199254740991.0), -9007199254740991);
  EXPECT_EQ(convert<int32_t>(8388609.0f), 8388609);  // 2^23 + 1
  EXPECT_EQ(convert<int32_t>(2147483647.4), 2147483647);
  EXPECT_EQ(convert<uint32_t>(4294967295.0), 4294967295u);
  EXPECT_EQ(convert<int64_t>(9.3e18), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert<int64_t>(-9.3e18f), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convert<int64_t>(9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(convert<uint64_t>(1.8446744073709550e19), 18446744073709549568u);
  EXPECT_EQ(convert<uint64_t>(2e19), std::numeric_limits<uint64_t>::max());
}

// Every half, as far as floats have them, and both of its neighbours.
TEST(Convert, OnlyHalvesAndWhatIsAboveThemRoundUp) {
  for (int32_t whole = 0; whole < 1 << 22; whole += whole < 70000 ? 1 : 997) {
    const float half = static_cast<float>(whole) + 0.5f;
    for (const float sign : {1.0f, -1.0f}) {
      const auto s = static_cast<int32_t>(sign);
      ASSERT_EQ(convert<int32_t>(sign * half), s * (whole + 1));
      ASSERT_EQ(convert<int32_t>(sign * std::nextafter(half, 0.0f)), s * whole);
      ASSERT_EQ(convert<int32_t>(static_cast<double>(sign) * std::nextafter(double{half}, 0.0)),
                s * whole);
    }
  }
}

TEST(Convert, AFloatIsTrueFromAHalfOn) {
  EXPECT_EQ(convert<Bool>(0.5f).byte, 1);
  EXPECT_EQ(convert<Bool>(-0.5).byte, 1);
  EXPECT_EQ(convert<Bool>(std::nextafter(0.5f, 0.0f)).byte, 0);
  EXPECT_EQ(convert<Bool>(std::nextafter(-0.5, 0.0)).byte, 0);
  EXPECT_EQ(convert<Bool>(Half{0x3800}).byte, 1);  // 0.5
  EXPECT_EQ(convert<Bool>(Half{0x37ff}).byte, 0);
}

TEST(Convert, NanIsZeroAsAnIntegerAndTrueAsABool) {
  EXPECT_EQ(convert<uint8_t>(kNan), 0);
  EXPECT_EQ(convert<int64_t>(static_cast<double>(kNan)), 0);
  EXPECT_EQ(convert<int16_t>(Half{0x7e00}), 0);
  EXPECT_EQ(convert<Bool>(kNan).byte, 1);
}

TEST(Convert, IntegersAreExactOrSaturate) {
  EXPECT_EQ(convert<uint8_t>(int64_t{-1}), 0);
  EXPECT_EQ(convert<uint8_t>(uint64_t{256}), 255);
  EXPECT_EQ(convert<int8_t>(int16_t{-129}), -128);
  EXPECT_EQ(convert<int64_t>(std::numeric_limits<uint64_t>::max()),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert<uint64_t>(std::numeric_limits<int64_t>::min()), 0u);
  EXPECT_EQ(convert<int64_t>(uint64_t{(1ull << 62) + 1}),
            (1ll << 62) + 1);  // not by way of a float
  EXPECT_EQ(convert<float>(int32_t{16777217}), 16777216.0f);
  EXPECT_EQ(convert<double>(int32_t{-16777217}), -16777217.0);
}

TEST(Convert, Float16AndBool) {
  EXPECT_EQ(convert<Half>(int64_t{65519}).bits, 0x7bff);
  EXPECT_EQ(convert<Half>(int64_t{65520}).bits, 0x7c00);
  EXPECT_EQ(convert<Half>(std::numeric_limits<int64_t>::min()).bits, 0xfc00);
  EXPECT_EQ(convert<Half>(uint64_t{1} << 63).bits, 0x7c00);
  EXPECT_EQ(convert<Half>(int32_t{2049}).bits, convert<Half>(2048.0f).bits);
  EXPECT_EQ(convert<Bool>(int64_t{1} << 40).byte, 1);
  EXPECT_EQ(convert<Bool>(-0.0f).byte, 0);
  EXPECT_EQ(convert<Bool>(Half{0x8000}).byte, 0);
  EXPECT_EQ(convert<float>(Bool{7}), 1.0f);
  EXPECT_EQ(convert<int64_t>(Bool{0}), 0);
}

TEST(Pointwise, OneOperationAfterTheOther) {
  EXPECT_EQ((pointwise<float>(uint8_t{255}, 124.f, 0.017f, 1.f)), (255.f - 124.f) * 0.017f + 1.f);
  EXPECT_EQ((pointwise<int32_t>(int32_t{16777217}, 0, 1, 0)), 16777217);  // computed in double
  EXPECT_EQ((pointwise<uint8_t>(uint8_t{100}, 0, 3, 0)), 255);
}

TEST(ConvertRow, AllPairsOfTypesWithStrides) {
  const double values[] = {0, 1, -1, 0.5, 2.5, 100.75, -129, 254.5, 300, -70000, 5e9, -1e19, 1e300};
  for (int from = 0; from < static_cast<int>(DType::kNone); ++from)
    for (int to = 0; to < static_cast<int>(DType::kNone); ++to)
      with_type(static_cast<DType>(from), [&]<class From>(From) {
        with_type(static_cast<DType>(to), [&]<class To>(To) {
          constexpr int n = std::size(values);
          std::byte in[n * 16], out[n * 24], dense[n * 8];
          std::memset(out, 0x5a, sizeof out);
          for (int i = 0; i < n; ++i) {
            const From v = convert<From>(values[i]);
            std::memcpy(in + 16 * i, &v, sizeof v);
            std::memcpy(dense + sizeof v * i, &v, sizeof v);
          }
          convert_row(in, static_cast<DType>(from), 16, out, static_cast<DType>(to), 24, n);
          std::byte packed[n * 8];
          convert_row(dense, static_cast<DType>(from), packed, static_cast<DType>(to), n);
          for (int i = 0; i < n; ++i) {
            const To want = convert<To>(convert<From>(values[i]));
            EXPECT_EQ(std::memcmp(out + 24 * i, &want, sizeof want), 0)
                << from << ' ' << to << ' ' << i;
            EXPECT_EQ(std::memcmp(packed + sizeof want * i, &want, sizeof want), 0)
                << from << ' ' << to << ' ' << i;
            EXPECT_EQ(out[24 * i + sizeof want], std::byte{0x5a});
          }
        });
      });
}

}  // namespace
}  // namespace stoker
