// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// median(), extremes() and correlate() against plain loops, on windows of the input.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels/elements/levels_testing.h"
#include "kernels/neighbourhood/correlate.h"
#include "kernels/neighbourhood/extremes.h"
#include "kernels/neighbourhood/median.h"

namespace stoker {
namespace {

class WindowsAtCpuLevel : public AtCpuLevel {};

TEST(Bordered, RepeatsAsItsNameSays) {
  const auto around = [](Border border) {
    std::vector<int64_t> made;
    for (int64_t p = -4; p < 7; ++p) made.push_back(bordered(p, 3, border));
    return made;
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(around(Border::kConstant), (List{-1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1}));
  EXPECT_EQ(around(Border::kClamp), (List{0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(around(Border::kReflect101), (List{0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2}));
  EXPECT_EQ(around(Border::kReflect1001), (List{2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0}));
  EXPECT_EQ(around(Border::kWrap), (List{2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}));
  for (int b = 1; b < 5; ++b) EXPECT_EQ(bordered(-3, 1, static_cast<Border>(b)), 0);
}

TEST(SortKey, IsInTheOrderOfTheValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const float floats[] = {-inf, -2, -1e-40F, -0.0F, 0, 1e-40F, 3, inf, nan};
  for (size_t i = 0; i + 1 < std::size(floats); ++i)
    EXPECT_LT(SortKey<float>::of(floats[i]), SortKey<float>::of(floats[i + 1])) << i;
  EXPECT_EQ(SortKey<float>::of(nan), SortKey<float>::of(-nan));
  for (size_t i = 0; i + 1 < std::size(floats); ++i)
    EXPECT_EQ(SortKey<float>::value(SortKey<float>::of(floats[i])), floats[i]);
  EXPECT_TRUE(std::isnan(SortKey<float>::value(SortKey<float>::of(nan))));
  EXPECT_LT(SortKey<int8_t>::of(-128), SortKey<int8_t>::of(-1));
  EXPECT_LT(SortKey<int64_t>::of(-1), SortKey<int64_t>::of(0));
  EXPECT_EQ(SortKey<int16_t>::value(SortKey<int16_t>::of(-7)), -7);
  EXPECT_TRUE(std::isnan(to_float(SortKey<Half>::value(SortKey<Half>::of(Half{0xfe01})))));
}

// The values of a window, in order. Constants are `fill`.
template <class V>
std::vector<V> window_of(const std::vector<V>& in, const Shape& s, const Shape& p,
                         std::span<const WindowAxis> axes, Border border, V fill) {
  std::vector<V> values;
  Shape size;
  for (const WindowAxis& w : axes) size.push_back(w.size);
  const Shape step = View::dense_strides(size, 1), stride = View::dense_strides(s, 1);
  for (int64_t k = 0; k < size.volume(); ++k) {
    Shape q = p;
    bool inside = true;
    for (int i = 0; i < size.rank; ++i) {
      const WindowAxis& w = axes[static_cast<size_t>(i)];
      q[w.axis] = bordered(p[w.axis] - w.anchor + k / step[i] % size[i], s[w.axis], border);
      inside = inside && q[w.axis] >= 0;
    }
    int64_t at = 0;
    for (int a = 0; a < s.rank; ++a) at += q[a] * stride[a];
    values.push_back(inside ? in[static_cast<size_t>(at)] : fill);
  }
  return values;
}

// A random tensor with windows: a part of the output is wanted, and only what it needs is there.
template <class V>
struct WindowTrial {
  Shape shape;
  std::vector<WindowAxis> axes;
  Border border;
  std::vector<V> numbers, there, made;
  Window wanted;
  View in, out;
  Arena scratch;

  explicit WindowTrial(std::mt19937& random, int rank, bool odd, int most) : random_(random) {
    const int before = pick(0, 1), behind = pick(0, 1);
    for (int a = 0; a < before + rank + behind; ++a)
      shape.push_back(pick(1, a == before + rank - 1 && pick(0, 3) == 0 ? 700 : 14));
    for (int i = 0; i < rank; ++i) {
      const int size = odd ? 2 * pick(0, most / 2) + 1 : pick(1, most);
      axes.push_back({before + i, size, odd ? size / 2 : pick(0, size - 1)});
    }
    if (odd && pick(0, 1))
      for (WindowAxis& w : axes) w = {w.axis, axes[0].size, axes[0].anchor};
    border = odd ? Border::kClamp : static_cast<Border>(pick(0, 4));
    for (int64_t k = 0; k < shape.volume(); ++k) numbers.push_back(static_cast<V>(pick(0, 250)));
    wanted = Window::all(shape);
    for (int a = 0; a < shape.rank; ++a) {
      wanted.begin[a] = pick(0, static_cast<int>(shape[a]) - 1);
      wanted.end[a] = pick(static_cast<int>(wanted.begin[a]) + 1, static_cast<int>(shape[a]));
    }
    constexpr DType kType = sizeof(V) == 1   ? DType::kUint8
                            : sizeof(V) == 2 ? DType::kInt16
                                             : DType::kFloat32;
    const Window needed = window_demand(wanted, shape, axes, border);
    for_each(needed, [&](const Shape& p) { there.push_back(numbers[number(p)]); });
    made.resize(static_cast<size_t>(wanted.shape().volume()));
    in = View::window(there.data(), kType, needed, shape);
    out = View::window(made.data(), kType, wanted, shape);
  }
  template <class Right>
  void expect(V fill, const Right& right) const {
    size_t k = 0;
    for_each(wanted, [&](const Shape& p) {
      EXPECT_EQ(made[k++], right(window_of(numbers, shape, p, axes, border, fill)))
          << shape.str() << " at " << p.str() << " border " << static_cast<int>(border);
    });
  }
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

 private:
  size_t number(const Shape& p) const {
    const Shape stride = View::dense_strides(shape, 1);
    int64_t at = 0;
    for (int a = 0; a < p.rank; ++a) at += p[a] * stride[a];
    return static_cast<size_t>(at);
  }
  template <class F>
  static void for_each(const Window& w, const F& f) {
    const Shape s = w.shape(), step = View::dense_strides(s, 1);
    for (int64_t k = 0; k < s.volume(); ++k) {
      Shape p = w.begin;
      for (int a = 0; a < s.rank; ++a) p[a] += k / step[a] % s[a];
      f(p);
    }
  }
  std::mt19937& random_;
};

template <class V>
void compare_medians(std::mt19937& random, int most) {
  WindowTrial<V> t(random, 2, true, most);
  median(t.in, t.out, t.axes, t.scratch);
  t.expect(V{}, [](std::vector<V> window) {
    std::nth_element(window.begin(), window.begin() + window.size() / 2, window.end());
    return window[window.size() / 2];
  });
}

TEST_P(WindowsAtCpuLevel, MediansAreTheMiddleOnes) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 120; ++trial) {
    compare_medians<uint8_t>(random, trial % 10 ? 7 : 21);
    compare_medians<int16_t>(random, 6);
    compare_medians<float>(random, 6);
  }
}

template <class V>
void compare_extremes(std::mt19937& random) {
  WindowTrial<V> t(random, 2, false, 9);
  const bool largest = t.pick(0, 1) == 1;
  if (largest) extremes<Largest>(t.in, t.out, t.axes, t.border, t.scratch);
  else extremes<Smallest>(t.in, t.out, t.axes, t.border, t.scratch);
  const V none = largest ? std::numeric_limits<V>::lowest() : std::numeric_limits<V>::max();
  t.expect(none, [&](const std::vector<V>& window) {
    return largest ? *std::max_element(window.begin(), window.end())
                   : *std::min_element(window.begin(), window.end());
  });
}

TEST_P(WindowsAtCpuLevel, ExtremesAreTheOutermostOnes) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    compare_extremes<uint8_t>(random);
    compare_extremes<int16_t>(random);
    compare_extremes<float>(random);
  }
}

TEST_P(WindowsAtCpuLevel, CorrelationsAreSumsInOrder) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    WindowTrial<float> t(random, 2 + trial % 2, false, 5);
    std::vector<float> weights;
    int64_t count = 1;
    for (const WindowAxis& w : t.axes) count *= w.size;
    for (int64_t k = 0; k < count; ++k) weights.push_back(static_cast<float>(t.pick(-3, 3)) / 7);
    correlate(t.in, t.out, t.axes, weights, t.border, 5, t.scratch);
    t.expect(5, [&](const std::vector<float>& window) {
      float sum = 0;
      for (size_t k = 0; k < window.size(); ++k) {
        const float product = window[k] * weights[k];
        if (weights[k] != 0) sum += product;
      }
      return sum;
    });
  }
}

TEST(Correlate, WhatHasNoWeightDoesNotShow) {
  float in[] = {std::nanf(""), 1, 2}, out[3];
  const Shape s = {1, 3};
  Arena scratch;
  const WindowAxis axes[] = {{0, 1, 0}, {1, 2, 0}};
  correlate(View::dense(in, DType::kFloat32, s), View::dense(out, DType::kFloat32, s), axes,
            std::vector<float>{0, 2}, Border::kConstant, 4, scratch);
  EXPECT_EQ(std::vector<float>(out, out + 3), (std::vector<float>{2, 4, 8}));
}

INSTANTIATE_TEST_SUITE_P(Levels, WindowsAtCpuLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
