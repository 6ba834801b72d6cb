// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/blur.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

class BlurAtCpuLevel : public AtCpuLevel {};

TEST(Mirrored, RepeatsNoEdge) {
  const std::vector<int64_t> right = {1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1};
  for (int64_t p = -5; p < 8; ++p) EXPECT_EQ(mirrored(p, 3), right[static_cast<size_t>(p + 5)]);
  for (int64_t p = -3; p < 4; ++p) EXPECT_EQ(mirrored(p, 1), 0);
}

TEST(FixedBlur, WeightsAddUpToOne) {
  EXPECT_EQ(FixedBlur::weights(std::vector{0.5, 0.25}), (std::vector<int16_t>{16384, 8192}));
  EXPECT_EQ(FixedBlur::weights(std::vector{1.0, 1e-9}), (std::vector<int16_t>{32767}));
  EXPECT_EQ(FixedBlur::weights(std::vector{0.4, 0.2, 0.1}),
            (std::vector<int16_t>{13106, 6554, 3277}));
}

std::vector<double> bell(int radius) {
  std::vector<double> w;
  double sum = 0;
  for (int k = 0; k <= radius; ++k) {
    w.push_back(std::exp(-0.5 * k * k / (0.3 * radius * radius + 0.1)));
    sum += (k ? 2 : 1) * w.back();
  }
  for (double& x : w) x /= sum;
  return w;
}

std::vector<double> blurred(std::vector<double> v, const Shape& s, std::span<const BlurAxis> axes) {
  const Shape step = View::dense_strides(s, 1);
  for (const BlurAxis& axis : axes) {
    const std::vector<double> before = v;
    for (int64_t k = 0; k < s.volume(); ++k) {
      const int64_t p = k / step[axis.axis] % s[axis.axis];
      double sum = 0;
      for (int j = -axis.radius(); j <= axis.radius(); ++j) {
        const int64_t q = mirrored(p + j, s[axis.axis]);
        sum += axis.weights[static_cast<size_t>(std::abs(j))] *
               before[static_cast<size_t>(k + (q - p) * step[axis.axis])];
      }
      v[static_cast<size_t>(k)] = sum;
    }
  }
  return v;
}

struct Trial {
  Shape shape;
  std::vector<BlurAxis> axes;
  std::vector<double> numbers, right;

  explicit Trial(std::mt19937& random) {
    const int count = 1 + static_cast<int>(random() % 3);
    const int before = static_cast<int>(random() % 2), behind = static_cast<int>(random() % 2);
    for (int a = 0; a < before + count + behind; ++a)
      shape.push_back(1 + static_cast<int64_t>(random() % 14));
    for (int k = 0; k < count; ++k)
      axes.push_back({before + k, bell(static_cast<int>(random() % (k ? 12 : 3)))});
    for (int64_t k = 0; k < shape.volume(); ++k) numbers.push_back(random() % 256);
    right = blurred(numbers, shape, axes);
  }
};

template <class From, class To>
std::vector<To> result(const Trial& t, DType from, DType to) {
  std::vector<From> in(t.numbers.begin(), t.numbers.end());
  std::vector<To> out(in.size(), To{111});
  Arena scratch;
  blur(View::dense(in.data(), from, t.shape), View::dense(out.data(), to, t.shape), t.axes,
       scratch);
  return out;
}

TEST_P(BlurAtCpuLevel, BlurIsTheSumOfItsNeighbours) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Trial t(random);
    const auto bytes = result<uint8_t, uint8_t>(t, DType::kUint8, DType::kUint8);
    const auto floats = result<uint8_t, float>(t, DType::kUint8, DType::kFloat32);
    const auto wide = result<int32_t, double>(t, DType::kInt32, DType::kFloat64);
    for (size_t k = 0; k < t.right.size(); ++k) {
      ASSERT_NEAR(bytes[k], t.right[k], 1) << trial << ' ' << t.shape.str();
      ASSERT_NEAR(floats[k], t.right[k], 1e-3) << trial << ' ' << t.shape.str();
      ASSERT_NEAR(wide[k], t.right[k], 1e-10) << trial << ' ' << t.shape.str();
    }
  }
}

TEST_P(BlurAtCpuLevel, BlurOfAWindowIsAPartOfTheWhole) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Trial t(random);
    std::vector<uint8_t> in(t.numbers.begin(), t.numbers.end());
    const auto whole = result<uint8_t, uint8_t>(t, DType::kUint8, DType::kUint8);
    Window w = Window::all(t.shape);
    for (int a = 0; a < t.shape.rank; ++a) {
      w.begin[a] = static_cast<int64_t>(random()) % t.shape[a];
      w.end[a] = w.begin[a] + 1 + static_cast<int64_t>(random()) % (t.shape[a] - w.begin[a]);
    }
    // What is not needed is not there.
    const Window needed = blur_demand(w, t.shape, t.axes);
    View from = View::dense(in.data(), DType::kUint8, t.shape);
    for (int a = 0; a < t.shape.rank; ++a)
      from.data = from.as<uint8_t>() + needed.begin[a] * from.strides[a];
    from.origin = needed.begin, from.shape = needed.shape();
    std::vector<uint8_t> out(static_cast<size_t>(w.shape().volume()));
    Arena scratch;
    blur(from, View::window(out.data(), DType::kUint8, w, t.shape), t.axes, scratch);
    const Shape step = View::dense_strides(t.shape, 1), own = View::dense_strides(w.shape(), 1);
    for (int64_t k = 0; k < w.shape().volume(); ++k) {
      int64_t place = 0;
      for (int a = 0; a < t.shape.rank; ++a)
        place += (w.begin[a] + k / own[a] % w.shape()[a]) * step[a];
      ASSERT_EQ(out[static_cast<size_t>(k)], whole[static_cast<size_t>(place)]) << trial;
    }
  }
}

TEST_P(BlurAtCpuLevel, BlurIsTheSameAtEachLevel) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Trial t(random);
    const auto floats = result<float, float>(t, DType::kFloat32, DType::kFloat32);
    const auto bytes = result<uint8_t, uint8_t>(t, DType::kUint8, DType::kUint8);
    const CpuLevel level = set_cpu_level_for_test(CpuLevel::kBase);
    EXPECT_EQ(floats, (result<float, float>(t, DType::kFloat32, DType::kFloat32)));
    EXPECT_EQ(bytes, (result<uint8_t, uint8_t>(t, DType::kUint8, DType::kUint8)));
    set_cpu_level_for_test(level);
  }
}

TEST_P(BlurAtCpuLevel, SumsOfBlursAddThemUp) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const Trial t(random);
    BlurList blurs(3, t.axes);
    std::vector<double> right = t.right;
    for (size_t b = 1; b < blurs.size(); ++b) {
      for (BlurAxis& a : blurs[b]) a.weights.assign(2 + random() % 5, -0.25);
      const std::vector<double> more = blurred(t.numbers, t.shape, blurs[b]);
      for (size_t k = 0; k < right.size(); ++k) right[k] += more[k];
    }
    std::vector<uint8_t> in(t.numbers.begin(), t.numbers.end());
    std::vector<uint8_t> bytes(in.size());
    std::vector<float> floats(in.size());
    Arena scratch;
    const View from = View::dense(in.data(), DType::kUint8, t.shape);
    sum_of_blurs(from, View::dense(bytes.data(), DType::kUint8, t.shape), blurs, scratch);
    sum_of_blurs(from, View::dense(floats.data(), DType::kFloat32, t.shape), blurs, scratch);
    for (size_t k = 0; k < right.size(); ++k) {
      ASSERT_NEAR(floats[k], right[k], 0.01) << trial << ' ' << t.shape.str();
      ASSERT_EQ(bytes[k], convert<uint8_t>(floats[k])) << trial << ' ' << t.shape.str();
    }
  }
}

TEST_P(BlurAtCpuLevel, BlurKeepsAConstant) {
  for (const int value : {0, 1, 127, 255}) {
    Trial t(*std::make_unique<std::mt19937>(4));
    t.shape = {40, 41, 3};
    t.axes = {{0, bell(32)}, {1, bell(31)}};
    t.numbers.assign(40 * 41 * 3, value);
    for (const uint8_t v : result<uint8_t, uint8_t>(t, DType::kUint8, DType::kUint8))
      ASSERT_EQ(v, value);
  }
}

INSTANTIATE_TEST_SUITE_P(Blur, BlurAtCpuLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
