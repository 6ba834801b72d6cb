// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Times the kernels alone, in microseconds per picture, for each SIMD target of this CPU: whole
// passes and the parts of a resize. The cases take turns, and the fastest run of each counts. Only
// figures of one run on one machine can be compared.
//
//   bench_kernels [part of a name] [rounds] [target]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/fused/fused.h"
#include "kernels/resample/taps.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/targets_testing.h"

namespace {

using namespace stoker;

struct Case {
  std::string name;
  std::function<void()> run;
};

// An array at an aligned address, as pools give it.
struct Array {
  Arena arena;
  TensorType type;
  size_t size;
  uint8_t* data;
  explicit Array(const TensorType& t)
      : type(t),
        size(static_cast<size_t>(t.shape.volume()) * size_of(t.dtype)),
        data(arena.array<uint8_t>(size)) {
    std::memset(data, 0, size);
  }
  View view() { return View::dense(data, type.dtype, type.shape, type.layout); }
};

// The filter of an antialiased resize at this scale.
ResampleAxis axis(int a, int64_t out, double lo, double hi, Filter f) {
  const double scale = std::max(1.0, (hi - lo) / static_cast<double>(out));
  const double unit = f == Filter::kLanczos3 ? 3 : f == Filter::kCubic ? 2 : 1;
  if (f == Filter::kTriangular && scale == 1) f = Filter::kLinear;
  return {a, out, lo, hi, f, unit * scale};
}

struct Shape2 {
  double height, width;
};

// The sizes and types of a training input behind the decoder.
struct Chain {
  Shape2 window = {283, 285};
  int channels = 3;
  Filter filter = Filter::kTriangular;
  DType in = DType::kUint8, resized = in, out = DType::kFloat32;
  bool planes = true, normalise = true, mirror = true, resize = true;
  int64_t size = 224;

  std::vector<Block> blocks() const {
    std::vector<Block> b;
    if (resize)
      b.push_back({Resample{2,
                            {axis(0, size, 10, 10 + window.height, filter),
                             axis(1, size, 20, 20 + window.width, filter)}},
                   resized});
    Gather g = Gather::identity({size, size, channels});
    if (mirror) g.axis[1] = {size - 1, -1, size};
    if (mirror || !resize) b.push_back({g, resized});
    if (normalise) b.push_back({Pointwise{{124}, {0.017f}, {}}, out});
    Store s;
    s.layout = "CHW";
    s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
    if (planes) b.push_back({s, out});
    return b;
  }
  TensorType input() const {
    const auto extent = [&](double x) {
      return static_cast<int64_t>(std::max(x, static_cast<double>(size))) + 40;
    };
    return {in, "HWC", {extent(window.height), extent(window.width), channels}};
  }
};

void add(std::vector<Case>& cases, const std::string& name, const Chain& c) {
  auto in = std::make_shared<Array>(c.input());
  const auto blocks = std::make_shared<std::vector<Block>>(c.blocks());
  auto out = std::make_shared<Array>(after(*blocks, in->type));
  std::mt19937 rng(1);
  if (c.in == DType::kUint8)
    for (size_t i = 0; i < in->size; ++i) in->data[i] = static_cast<uint8_t>(rng());
  auto arena = std::make_shared<Arena>();
  cases.push_back({name, [=] {
                     arena->reset();
                     run_blocks(*blocks, in->view(), out->view(), *arena);
                   }});
}

void add_taps(std::vector<Case>& cases) {
  for (auto [name, f] : {std::pair{"triangle", Filter::kTriangular},
                         {"cubic", Filter::kCubic},
                         {"lanczos3", Filter::kLanczos3},
                         {"gaussian", Filter::kGaussian}}) {
    auto arena = std::make_shared<Arena>();
    const ResampleAxis y = axis(0, 224, 10, 293, f), x = axis(1, 224, 20, 305, f);
    cases.push_back({std::string("part: both tap tables, ") + name, [=] {
                       arena->reset();
                       tap_table<int16_t>(y, 375, 0, 1, 224, *arena);
                       tap_table<int16_t>(x, 500, 223, -1, 224, *arena);
                     }});
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const Chain usual;
  add(cases, "resize 285 to float32 CHW", usual);
  const auto with = [&](const std::string& name, auto&& change) {
    Chain c = usual;
    change(c);
    add(cases, name, c);
  };
  with("resize 285 to float16 CHW", [](Chain& c) { c.out = DType::kFloat16; });
  with("resize 285 to float32 HWC", [](Chain& c) { c.planes = false; });
  with("resize 285 to uint8 CHW", [](Chain& c) { c.out = DType::kUint8, c.normalise = false; });
  with("resize 285 to uint8 HWC",
       [](Chain& c) { c.out = DType::kUint8, c.normalise = c.planes = false; });
  with("resize 285 of 1 channel", [](Chain& c) { c.channels = 1; });
  with("resize 285 of 4 channels", [](Chain& c) { c.channels = 4; });
  with("resize 285 of float32", [](Chain& c) { c.in = c.resized = DType::kFloat32; });
  with("resize 285 in float32", [](Chain& c) { c.resized = DType::kFloat32; });
  with("resize 100", [](Chain& c) { c.window = {100, 100}; });
  with("resize 448", [](Chain& c) { c.window = {448, 448}; });
  with("resize 896", [](Chain& c) { c.window = {896, 896}; });
  with("resize 1792", [](Chain& c) { c.window = {1792, 1792}; });
  with("resize 285 cubic", [](Chain& c) { c.filter = Filter::kCubic; });
  with("resize 285 lanczos3", [](Chain& c) { c.filter = Filter::kLanczos3; });
  with("resize 285 gaussian", [](Chain& c) { c.filter = Filter::kGaussian; });
  with("crop mirror normalise to float32 CHW", [](Chain& c) { c.resize = false; });
  with("crop normalise to float32 CHW", [](Chain& c) { c.resize = c.mirror = false; });
  with("crop normalise to float32 HWC", [](Chain& c) { c.resize = c.mirror = c.planes = false; });
  with("crop mirror normalise to float16 CHW",
       [](Chain& c) { c.resize = false, c.out = DType::kFloat16; });
  with("crop mirror of uint8 HWC",
       [](Chain& c) { c.resize = c.planes = c.normalise = false, c.out = DType::kUint8; });
  with("crop of uint8 HWC", [](Chain& c) {
    c.resize = c.mirror = c.planes = c.normalise = false, c.out = DType::kUint8;
  });
  Chain copy;
  copy.resize = copy.normalise = copy.mirror = copy.planes = false;
  auto in = std::make_shared<Array>(TensorType{DType::kUint8, "HWC", {480, 640, 3}});
  auto out = std::make_shared<Array>(in->type);
  auto arena = std::make_shared<Arena>();
  cases.push_back({"copy of 480 x 640 pixels", [=] {
                     arena->reset();
                     run_blocks({}, in->view(), out->view(), *arena);
                   }});
  cases.push_back(
      {"memcpy of 480 x 640 pixels", [=] { std::memcpy(out->data, in->data, in->size); }});
  add_taps(cases);
  return cases;
}

double microseconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 200;
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [&](const Case& c) { return c.name.find(wanted) == std::string::npos; });
  std::vector<test::Instructions> targets = test::all_instructions();
  if (argc > 3) std::erase_if(targets, [&](auto& t) { return t.name() != argv[3]; });
  std::vector<double> best(cases.size() * targets.size(), 1e30);
  for (int r = 0; r < rounds; ++r)
    for (size_t t = 0; t < targets.size(); ++t) {
      const test::Forced forced(targets[t]);
      for (size_t i = 0; i < cases.size(); ++i) {
        double& least = best[i * targets.size() + t];
        cases[i].run();  // puts the data into the cache, as a decoder does
        least = std::min(least, microseconds(cases[i].run));
      }
    }
  std::printf("%-40s", "us a picture");
  for (const auto& t : targets) std::printf(" %9.9s", t.name().c_str());
  for (size_t i = 0; i < cases.size(); ++i) {
    std::printf("\n%-40s", cases[i].name.c_str());
    for (size_t t = 0; t < targets.size(); ++t) std::printf("%10.1f", best[i * targets.size() + t]);
  }
  std::printf("\n");
}
