// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The distortion by JPEG against libjpeg-turbo, on the CPU and on a simulated device.
#include <gtest/gtest.h>

#include <random>

#include "codec/jpeg/maker_testing.h"
#include "device/simulated/simulated.h"
#include "kernels/elements/levels_testing.h"
#include "op/loops/gpu_jpeg_distortion.cuh"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

class JpegDistortionAtCpuLevel : public AtCpuLevel {};

Bytes by_libjpeg(const Bytes& rgb, const Shape& s, int quality) {
  const test::JpegKind kind{.width = static_cast<int>(s[1]),
                            .height = static_cast<int>(s[0]),
                            .sampling = {{2, 1, 1, 1}, {2, 1, 1, 1}},
                            .quality = quality};
  return test::plain_decode(test::make_jpeg(kind, &rgb), JCS_RGB);
}

Bytes distorted(Bytes rgb, const Shape& s, int quality) {
  Bytes out(rgb.size());
  Arena scratch;
  distort_as_jpeg(View::dense(rgb.data(), DType::kUint8, s, "HWC"),
                  View::dense(out.data(), DType::kUint8, s, "HWC"), quality, scratch);
  return out;
}

// Pictures of several kinds: smooth with noise, noise, extremes, one colour.
Bytes picture(const Shape& s, int kind, std::mt19937& random) {
  if (kind == 0)
    return test::make_pixels(static_cast<int>(s[1]), static_cast<int>(s[0]), 3,
                             static_cast<unsigned>(random()));
  Bytes p(static_cast<size_t>(s.volume()));
  for (uint8_t& v : p) v = static_cast<uint8_t>(kind == 1 ? random() : random() % 2 * 255);
  if (kind == 3)
    for (size_t k = 3; k < p.size(); ++k) p[k] = p[k - 3];
  return p;
}

TEST_P(JpegDistortionAtCpuLevel, IsThatOfLibjpegForAllSmallSizes) {
  std::mt19937 random(1);
  for (int64_t h = 1; h <= 40; ++h)
    for (int64_t w = 1; w <= 40; ++w) {
      const Shape s{h, w, 3};
      const int quality = 1 + static_cast<int>(random() % 100);
      const Bytes in = picture(s, static_cast<int>(random() % 4), random);
      ASSERT_EQ(distorted(in, s, quality), by_libjpeg(in, s, quality)) << s.str() << " " << quality;
    }
}

TEST_P(JpegDistortionAtCpuLevel, IsThatOfLibjpegForAllQualities) {
  std::mt19937 random(2);
  for (int quality = 1; quality <= 100; ++quality)
    for (int kind = 0; kind < 4; ++kind) {
      const Shape s{40 + static_cast<int64_t>(random() % 60),
                    100 + static_cast<int64_t>(random() % 200), 3};
      const Bytes in = picture(s, kind, random);
      ASSERT_EQ(distorted(in, s, quality), by_libjpeg(in, s, quality)) << s.str() << " " << quality;
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, JpegDistortionAtCpuLevel, testing::ValuesIn(kCpuLevels),
                         level_name);

// What is not demanded has other bytes, and is not read if the memory does not hold it.
TEST(JpegDistortion, AWindowIsThatOfTheWhole) {
  std::mt19937 random(3);
  const auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int trial = 0; trial < 400; ++trial) {
    const Shape s{1 + pick(90), 1 + pick(trial % 4 ? 90 : 8), 3};
    Window w{{pick(s[0]), pick(s[1]), pick(3)}, {}};
    for (int a = 0; a < 3; ++a) w.end.push_back(w.begin[a] + 1 + pick(s[a] - w.begin[a]));
    const Bytes in = picture(s, trial % 3, random);
    const Bytes whole = distorted(in, s, 30);
    const Window needed = jpeg_demand(w, s);
    const auto part = [&](const Bytes& of, const Window& box) {
      Bytes p;
      for (int64_t y = box.begin[0]; y < box.end[0]; ++y)
        for (int64_t x = box.begin[1]; x < box.end[1]; ++x)
          for (int64_t c = box.begin[2]; c < box.end[2]; ++c)
            p.push_back(of[static_cast<size_t>((y * s[1] + x) * 3 + c)]);
      return p;
    };
    Bytes from = part(in, needed), out(static_cast<size_t>(w.shape().volume()));
    Arena scratch;
    distort_as_jpeg(View::window(from.data(), DType::kUint8, needed, s, "HWC"),
                    View::window(out.data(), DType::kUint8, w, s, "HWC"), 30, scratch);
    ASSERT_EQ(out, part(whole, w)) << s.str() << w.begin.str() << w.end.str();
  }
}

TEST(JpegDistortion, ADeviceGivesTheBytesOfTheCpu) {
  SimulatedDevice device;
  Held staged;
  const std::unique_ptr<Stream> stream = device.make_stream("test");
  std::vector<std::shared_ptr<Buffer>> held;
  const auto acquire = [&](size_t bytes) {
    return held.emplace_back(stream->try_acquire(std::max<size_t>(bytes, 1)));
  };
  const std::string name = "node";
  HostPool staging{SIZE_MAX};
  const GpuMemory memory{acquire, staging, staged};
  std::mt19937 random(4);
  std::vector<BatchItem> items;
  std::vector<Bytes> pictures;
  const auto quality = [](size_t i) { return static_cast<int>(1 + i * 7 % 100); };
  for (int trial = 0; trial < 60; ++trial) {
    const auto most = trial % 3 ? 70u : 6u;
    const Shape s{static_cast<int64_t>(random() % most), static_cast<int64_t>(random() % most), 3};
    pictures.push_back(picture(s, trial % 4, random));
    const size_t bytes = pictures.back().size();
    std::byte* in = acquire(bytes)->data();
    stream->copy(in, pictures.back().data(), bytes, Copy::kToDevice, "put");
    stream->synchronize();
    items.push_back({{View::dense(in, DType::kUint8, s, "HWC")},
                     {View::dense(acquire(bytes)->data(), DType::kUint8, s, "HWC")},
                     Chance(1, 2, 3, 4)});
  }
  {
    GpuRun r(*stream, name, items, memory);
    distort_as_jpeg(r, quality);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    Bytes out(pictures[i].size());
    stream->copy(out.data(), items[i].outputs[0].data, out.size(), Copy::kToHost, "get");
    stream->synchronize();
    EXPECT_EQ(out, distorted(pictures[i], items[i].outputs[0].shape, quality(i))) << i;
  }
}

}  // namespace
}  // namespace stoker
