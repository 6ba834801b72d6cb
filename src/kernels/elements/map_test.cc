// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

struct Doubled {
  int16_t operator()(uint8_t v) const { return static_cast<int16_t>(2 * v); }
};

std::vector<uint8_t> numbers() {
  std::vector<uint8_t> v(20);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<uint8_t>(i);
  return v;
}

TEST(Map, InputCoversMoreThanOutput) {
  auto in = numbers();  // rows 1 to 4, columns 2 to 6 of 8 x 8
  std::vector<int16_t> out(4);
  map<int16_t, uint8_t>(View::window(out.data(), DType::kInt16, {{3, 4}, {5, 6}}, {8, 8}),
                        Doubled{},
                        View::window(in.data(), DType::kUint8, {{1, 2}, {5, 7}}, {8, 8}));
  EXPECT_EQ(out, (std::vector<int16_t>{24, 26, 34, 36}));
}

TEST(Map, RowsHaveRoomBetweenThem) {
  auto in = numbers();
  std::vector<int16_t> out(16, -1);
  View from = View::dense(in.data(), DType::kUint8, {4, 3}),
       to = View::dense(out.data(), DType::kInt16, {4, 3});
  from.strides[0] = 5;
  to.strides[0] = 8;
  map<int16_t, uint8_t>(to, Doubled{}, from);
  EXPECT_EQ(out,
            (std::vector<int16_t>{0, 2, 4, -1, 10, 12, 14, -1, 20, 22, 24, -1, 30, 32, 34, -1}));
}

TEST(Map, TakesAnyNumberOfInputs) {
  auto in = numbers();
  std::vector<int16_t> more = {100, 200, 300}, out(3);
  View from = View::dense(in.data() + 9, DType::kUint8, {3});
  from.strides[0] = -4;
  const View to = View::dense(out.data(), DType::kInt16, {3});
  const auto sum = [](uint8_t a, int16_t b) { return static_cast<int16_t>(a + b); };
  map<int16_t, uint8_t, int16_t>(to, sum, from, View::dense(more.data(), DType::kInt16, {3}));
  EXPECT_EQ(out, (std::vector<int16_t>{109, 205, 301}));
  map<int16_t>(to, [] { return int16_t{7}; });
  EXPECT_EQ(out, (std::vector<int16_t>{7, 7, 7}));
}

TEST(Map, ScalarIsOneElementAndNothingIsNone) {
  uint8_t in = 7;
  int16_t out = 0;
  map<int16_t, uint8_t>(View::dense(&out, DType::kInt16, {}), Doubled{},
                        View::dense(&in, DType::kUint8, {}));
  EXPECT_EQ(out, 14);
  map<int16_t, uint8_t>(View::dense(&out, DType::kInt16, {0, 3}), Doubled{},
                        View::dense(&in, DType::kUint8, {0, 3}));
  EXPECT_EQ(out, 14);
}

// A random part of `memory`, with gaps, mirrored and turned axes, and its element at a position.
struct Odd {
  std::vector<float> memory = std::vector<float>(20000);
  View view;

  Odd(std::mt19937& random, const Window& w, const Shape& full) {
    for (float& x : memory) x = static_cast<float>(random() % 1000) - 500;
    view = View::window(memory.data(), DType::kFloat32, w, full);
    int64_t room = 4;
    std::byte* begin = view.as<std::byte>();
    for (uint32_t i = 0; i < 3; ++i) {  // from a random axis on, each lies beside the ones before
      const auto a = static_cast<int>((i + random_axis(random)) % 3);
      view.strides[a] = room * static_cast<int64_t>(1 + random() % 2);
      room = view.strides[a] * std::max<int64_t>(view.shape[a], 1);
      if (random() % 2 == 0) continue;
      begin += (view.shape[a] - 1) * view.strides[a];
      view.strides[a] = -view.strides[a];
    }
    view.data = begin;
  }
  uint32_t random_axis(std::mt19937& random) {
    if (axis < 0) axis = static_cast<int>(random() % 3);
    return static_cast<uint32_t>(axis);
  }
  float& at(const Shape& p) const {
    int64_t bytes = 0;
    for (int a = 0; a < 3; ++a) bytes += (p[a] - view.origin[a]) * view.strides[a];
    return *reinterpret_cast<float*>(view.as<std::byte>() + bytes);
  }
  int axis = -1;
};

class MapAtLevel : public AtCpuLevel {};

TEST_P(MapAtLevel, MapIsOneElementAfterTheOther) {
  std::mt19937 random(1);
  const auto f = [](float a, float b) { return std::fabs(a) * 0.1f + b; };
  for (int trial = 0; trial < 300; ++trial) {
    const Shape full = {static_cast<int64_t>(1 + random() % 5),
                        static_cast<int64_t>(1 + random() % 6),
                        static_cast<int64_t>(1 + random() % 40)};
    Window wanted = Window::all(full);
    for (int a = 0; a < 3; ++a) {
      wanted.begin[a] = static_cast<int64_t>(random()) % full[a];
      wanted.end[a] =
          wanted.begin[a] + 1 + static_cast<int64_t>(random()) % (full[a] - wanted.begin[a]);
    }
    const Odd a(random, Window::all(full), full), b(random, wanted, full);
    Odd out(random, wanted, full);
    const std::vector<float> before = out.memory;
    map<float, float, float>(out.view, f, a.view, b.view);
    int64_t count = 0;
    Shape p = wanted.begin;
    for (p[0] = wanted.begin[0]; p[0] < wanted.end[0]; ++p[0])
      for (p[1] = wanted.begin[1]; p[1] < wanted.end[1]; ++p[1])
        for (p[2] = wanted.begin[2]; p[2] < wanted.end[2]; ++p[2], ++count) {
          ASSERT_EQ(out.at(p), f(a.at(p), b.at(p))) << trial << ' ' << p.str();
          out.at(p) = before[static_cast<size_t>(&out.at(p) - out.memory.data())];
        }
    ASSERT_EQ(count, out.view.shape.volume());
    ASSERT_EQ(out.memory, before) << "nothing else was written";
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, MapAtLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
