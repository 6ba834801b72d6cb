// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/fused.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "base/error.h"
#include "kernels/fused/fused_testing.h"
#include "kernels/fused/naive_testing.h"
#include "kernels/resample/resample.h"
#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

using test::Array;
using test::ChainMaker;

Array one_by_one(std::span<const Block> blocks, Array a) {
  Arena arena;
  for (const Block& b : blocks) {
    Array next(after(b, a.type));
    run_blocks({&b, 1}, a.view(), next.view(), arena);
    a = std::move(next);
  }
  return a;
}

Array fused(std::span<const Block> blocks, const Array& a) {
  Arena arena;
  Array out(after(blocks, a.type));
  run_blocks(blocks, a.view(), out.view(), arena);
  return out;
}

Array naive(std::span<const Block> blocks, Array a) {
  for (const Block& b : blocks) a = test::naive(b, a);
  return a;
}

TEST(Fused, EachBlockIsWhatItsDefinitionSays) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    ChainMaker make(seed);
    const Array in = make.input();
    const auto chain = make.chain(in.type, 1);
    ASSERT_EQ(fused(chain, in), test::naive(chain[0], in))
        << test::describe(in.type, chain) << " seed " << seed;
  }
}

TEST(Fused, OnePassIsTheBlocksOneByOne) {
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    ChainMaker make(seed);
    const Array in = make.input();
    const auto chain = make.chain(in.type, 1 + seed % 6);
    ASSERT_EQ(fused(chain, in), one_by_one(chain, in))
        << test::describe(in.type, chain) << " seed " << seed;
  }
}

TEST(Fused, AChainIsWhatItsDefinitionSays) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    ChainMaker make(seed + 50000);
    const Array in = make.input();
    const auto chain = make.chain(in.type, 2 + seed % 4);
    ASSERT_EQ(fused(chain, in), naive(chain, in))
        << test::describe(in.type, chain) << " seed " << seed;
  }
}

// A window of the output needs only the demanded window of the input, in memory of any strides.
void expect_windows_hold_what_the_definitions_say(uint32_t seeds, int64_t least_extent) {
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    ChainMaker make(seed, least_extent);
    const Array in = make.input();
    const auto chain = make.chain(in.type, 1 + seed % 5);
    const Array whole = naive(chain, in);
    const Window wanted = make.window(whole.type.shape);
    const Window needed = demand(chain, in.type, wanted);
    ASSERT_TRUE(Window::all(in.type.shape).contains(needed));
    test::Scattered some = make.scattered(in.type, needed);
    some.take(in);
    test::Scattered out = make.scattered(whole.type, wanted);
    Arena arena;
    run_blocks(chain, some.view, out.view, arena);
    ASSERT_TRUE(out.holds(whole)) << test::describe(in.type, chain) << " seed " << seed;
    ASSERT_TRUE(out.nothing_else_written()) << test::describe(in.type, chain) << " seed " << seed;
  }
}

TEST(Fused, WindowsHoldTheSameBytes) { expect_windows_hold_what_the_definitions_say(4000, 1); }
TEST(Fused, ExtentsMayBeZero) { expect_windows_hold_what_the_definitions_say(4000, 0); }

TEST(Fused, NothingIsWrittenOfAnEmptyOutput) {
  const Array in({DType::kUint8, "HWC", {3, 4, 2}});
  Gather g = Gather::identity({0, 9, 2});
  g.axis[1].start = -2;
  g.fill = {7};
  const Block pad{g, DType::kUint8};
  Array memory({DType::kUint8, "", {18}});
  Arena arena;
  run_blocks({&pad, 1}, in.view(),
             View::dense(memory.bytes.data(), DType::kUint8, {0, 9, 2}, "HWC"), arena);
  EXPECT_EQ(memory, Array(memory.type));
}

TEST(Fused, NoBlocksCopy) {
  ChainMaker make(1);
  const Array in = make.input();
  EXPECT_EQ(fused({}, in), in);
}

TEST(Fused, AnOutputOfAnotherTypeIsRefused) {
  uint8_t in[4] = {}, out[4];
  Arena arena;
  const Block b{Convert{}, DType::kInt8};
  EXPECT_THROW(run_blocks({&b, 1}, View::dense(in, DType::kUint8, {4}),
                          View::dense(out, DType::kUint8, {4}), arena),
               Error);
  EXPECT_THROW(run_blocks({&b, 1}, View::dense(in, DType::kUint8, {4}),
                          View::dense(out, DType::kInt8, {3}), arena),
               Error);
}

TEST(Fused, FillsAndPaddingAreRoundedAndGoThroughLaterSteps) {
  uint8_t in[] = {10, 20, 30, 40};
  Block blocks[3];
  Gather g = Gather::identity({1, 2, 2});
  g.axis[1] = {-1, 1, 3};
  g.fill = {1.5f, 300};
  blocks[0] = {g, DType::kUint8};
  blocks[1] = {Pointwise{{1}, {2}, {0, 100}}, DType::kFloat32};
  Store s;
  s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
  s.layout = "CHW";
  s.pad_axis = 0, s.pad_to = 3;
  s.fill = {-1, -2, -3};
  blocks[2] = {s, DType::kFloat32};
  float out[9];
  Arena arena;
  run_blocks(blocks, View::dense(in, DType::kUint8, {1, 2, 2}, "HWC"),
             View::dense(out, DType::kFloat32, {3, 1, 3}), arena);
  const float want[] = {2, 18, 58, 608, 138, 178, -3, -3, -3};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(out[i], want[i]) << i;
}

// All is one pass, so nothing but the output is stored whole.
TEST(Fused, UsesLittleScratch) {
  Array in({DType::kUint8, "HWC", {600, 800, 3}});
  Resample r{2,
             {{0, 256, 0, 600, Filter::kTriangular, 600. / 256},
              {1, 256, 0, 800, Filter::kTriangular, 800. / 256}}};
  Gather g = Gather::identity({256, 256, 3});
  g.axis[0] = {16, 1, 224};
  g.axis[1] = {239, -1, 224};
  Store s;
  s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
  s.layout = "CHW";
  const Block blocks[] = {{r, DType::kUint8},
                          {g, DType::kUint8},
                          {Pointwise{{1, 2, 3}, {2}, {}}, DType::kFloat32},
                          {s, DType::kFloat16}};
  Array out(after(blocks, in.type));
  Arena arena;
  run_blocks(blocks, in.view(), out.view(), arena);
  EXPECT_LT(arena.used(), 100000u);
}

// Mixing goes row by row, and lists before and after it mean other channels.
TEST(Fused, ChannelsJoinAPass) {
  Array in({DType::kUint8, "HWC", {600, 800, 3}});
  ChainMaker make(3);
  for (auto& b : in.bytes) b = std::byte(make.pick(0, 255));
  Resample r{2,
             {{0, 256, 0, 600, Filter::kTriangular, 600. / 256},
              {1, 256, 0, 800, Filter::kTriangular, 800. / 256}}};
  Gather g = Gather::identity({256, 256, 2});
  g.axis[1] = {280, -1, 300};
  g.axis[2] = {1, -1, 2};
  g.fill = {7, 8};
  Store s;
  s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
  s.layout = "CHW";
  const Channels mix{3, 2, {{0.5f, 0.25f, 0.125f}, {-1, 2, 0.5f}}, {3, -4}};
  for (DType mixed : {DType::kUint8, DType::kFloat32}) {
    const Block blocks[] = {{r, DType::kUint8},
                            {Pointwise{{1, 2, 3}, {2}, {}}, mixed},
                            {mix, mixed},
                            {g, mixed},
                            {Pointwise{{4, 5}, {0.5f, 0.25f}, {}}, DType::kFloat32},
                            {s, DType::kFloat32}};
    Array out(after(blocks, in.type));
    Arena arena;
    run_blocks(blocks, in.view(), out.view(), arena);
    EXPECT_LT(arena.used(), 100000u);
    EXPECT_EQ(out, naive(std::span(blocks).subspan(1), one_by_one({blocks, 1}, in)));
  }
}

TEST(Fused, WarpsBeginAPass) {
  Array in({DType::kUint8, "HWC", {600, 800, 3}});
  ChainMaker make(4);
  for (auto& b : in.bytes) b = std::byte(make.pick(0, 255));
  const Warp warp{2, {0, 1}, {1000, 1100}, {{0.8, 0.6}, {-0.6, 0.8}}, {-430, 260}};
  Gather g = Gather::identity({224, 224, 3});
  g.axis[0].start = 300;
  g.axis[1] = {700, -1, 224};
  const Channels mix{3, 3, {{0.5f, 0.25f, 0.125f}, {-1, 2, 0.5f}, {1}}, {3, -4}};
  Store s;
  s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
  s.layout = "CHW";
  s.pad_axis = 0, s.pad_to = 4;
  const Block blocks[] = {{warp, DType::kUint8},
                          {mix, DType::kUint8},
                          {g, DType::kUint8},
                          {Pointwise{{1, 2, 3}, {2}, {}}, DType::kFloat32},
                          {s, DType::kFloat16}};
  Array out(after(blocks, in.type));
  Arena arena;
  run_blocks(blocks, in.view(), out.view(), arena);
  EXPECT_LT(arena.used(), 20000u);
  EXPECT_EQ(out, one_by_one(blocks, in));
}

// The border of a window in memory is not that of the picture.
TEST(Fused, WarpsFillOrClampAtTheEdge) {
  uint8_t in[] = {10, 20, 30};
  Warp warp{1, {0}, {6}, {{1}}, {-1.5}};  // places -1.5, -0.5, ... 3.5
  const auto run = [&] {
    const Block b{warp, DType::kUint8};
    std::vector<uint8_t> out(6);
    Arena arena;
    run_blocks({&b, 1}, View::dense(in, DType::kUint8, {3}),
               View::dense(out.data(), DType::kUint8, {6}), arena);
    return out;
  };
  EXPECT_EQ(run(), (std::vector<uint8_t>{10, 10, 15, 25, 30, 30}));
  warp.border = Border::kConstant, warp.fill = {100};
  EXPECT_EQ(run(), (std::vector<uint8_t>{100, 55, 15, 25, 65, 100}));
  warp.filter = Filter::kNearest;
  EXPECT_EQ(run(), (std::vector<uint8_t>{100, 10, 20, 30, 100, 100}));
}

// Pictures wider than any vector, on every target, against resample() and single blocks.
class FusedOnTarget : public ::testing::TestWithParam<test::Instructions> {
 protected:
  std::vector<Block> chain(ChainMaker& make, const TensorType& in) {
    Resample r{2, {axis(make, 0, in.shape[0]), axis(make, 1, in.shape[1])}};
    const DType type = make.one_in(4) ? DType::kFloat32 : DType::kUint8;
    const TensorType resized = after(Block{r, type}, in);
    Gather g = Gather::identity(resized.shape);
    const int64_t width = resized.shape[1];
    if (make.one_in(2)) g.axis[1] = {width - 1, -1, width};
    const DType result = make.one_in(2) ? DType::kFloat16 : DType::kFloat32;
    std::vector<Block> blocks = {
        {r, type}, {g, type}, {Pointwise{{124}, {-0.017f}, {0.5f}}, result}};
    Store s;
    s.layout = "CHW";
    s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
    if (make.one_in(2)) blocks.push_back({s, result});
    return blocks;
  }
  ResampleAxis axis(ChainMaker& make, int a, int64_t extent) {
    ResampleAxis x{
        a, make.pick(1, 150), 0, static_cast<double>(extent), static_cast<Filter>(make.pick(1, 5)),
        1};
    if (make.one_in(2)) {
      x.lo = make.real(0, static_cast<double>(extent) / 2);
      x.hi = make.real(x.lo + 0.5, static_cast<double>(extent));
    }
    if (x.out == extent) ++x.out;  // an axis that changes nothing would be left out
    const double unit = x.filter == Filter::kLanczos3 ? 3 : x.filter == Filter::kCubic ? 2 : 1;
    x.radius = unit * std::max(1.0, (x.hi - x.lo) / static_cast<double>(x.out));
    x.clamped = x.out % 3 == 0;
    return x;
  }
};

TEST_P(FusedOnTarget, ResizesAsThePlainLoopsDo) {
  const test::Forced forced(GetParam());
  for (uint32_t seed = 0; seed < 200; ++seed) {
    ChainMaker make(seed + 90000);
    static const DType others[] = {DType::kInt16, DType::kInt32, DType::kInt64, DType::kFloat64};
    Array in({make.one_in(3) ? others[make.pick(0, 3)] : DType::kUint8,
              "HWC",
              {make.pick(1, 40), make.pick(1, make.one_in(4) ? 1200 : 300), make.pick(1, 4)}});
    for (auto& b : in.bytes) b = std::byte(make.pick(0, 255));
    const auto blocks = chain(make, in.type);
    Array resized(after(blocks[0], in.type));
    Arena arena;
    const View want =
        resample(std::get<Resample>(blocks[0].kind), Strided::of(in.view()), in.type.shape,
                 resized.type.dtype, Window::all(resized.type.shape), arena);
    std::memcpy(resized.bytes.data(), want.data, resized.bytes.size());
    ASSERT_EQ(fused({blocks.data(), 1}, in), resized) << "seed " << seed;
    ASSERT_EQ(fused(blocks, in), naive(std::span(blocks).subspan(1), resized)) << "seed " << seed;
  }
}
// All kinds of moves, of pixels of all sizes, in rows longer than any vector, in any memory.
TEST_P(FusedOnTarget, MovesAsTheDefinitionsSay) {
  const test::Forced forced(GetParam());
  static const DType types[] = {DType::kUint8, DType::kUint16, DType::kFloat32, DType::kFloat64};
  for (uint32_t seed = 0; seed < 400; ++seed) {
    ChainMaker make(seed + 70000);
    const bool planes = make.one_in(4);
    const int64_t h = make.pick(1, 24), w = make.pick(1, make.one_in(4) ? 1200 : 150);
    const int64_t c = make.one_in(8) ? make.pick(5, 40) : make.pick(1, 4);
    const Shape shape = planes ? Shape{c, h, w} : Shape{h, w, c};
    Array in({types[make.pick(0, 3)], planes ? "CHW" : "HWC", shape});
    for (auto& b : in.bytes) b = std::byte(make.pick(0, 255));
    if (info(in.type.dtype).is_float)  // the judge compares bytes, and NaN has many
      for (size_t i = 0; i < in.bytes.size(); ++i) in.bytes[i] &= std::byte{0x3f};
    std::vector<Block> blocks;
    const auto add = [&](BlockKind kind, DType result) { blocks.push_back({kind, result}); };
    const auto now = [&] { return after(blocks, in.type); };
    if (make.one_in(2)) {
      Resample r{2, {axis(make, planes, h), axis(make, planes + 1, w)}};
      r.axis[0].filter = r.axis[1].filter = Filter::kNearest;
      add(r, in.type.dtype);
    }
    if (!make.one_in(4)) {
      const TensorType t = now();
      Gather g = Gather::identity(t.shape);
      for (int a = 0; a < 3; ++a) {
        const int64_t n = t.shape[a];
        switch (make.pick(0, 5)) {
          case 0:
          case 1: g.axis[a] = {n - 1, -1, n}; break;
          case 2: g.axis[a] = {0, 2, (n + 1) / 2}; break;
          case 3: g.axis[a] = {make.pick(-9, 9), 1, n + make.pick(0, 9)}; break;
          default: break;
        }
      }
      g.fill = {};
      for (int64_t k = 0; k < g.axis[planes ? 0 : 2].extent; ++k)
        g.fill.push_back(static_cast<float>(make.one_in(2) ? 7 : k));
      add(g, in.type.dtype);
    }
    if (make.one_in(2)) {
      static const int perms[][3] = {{2, 0, 1}, {1, 2, 0}, {1, 0, 2}, {2, 1, 0}};
      Store s;
      std::copy_n(perms[make.pick(0, 3)], 3, s.perm);
      add(s, in.type.dtype);
    }
    if (make.one_in(4)) add(Pointwise{{3}, {0.5f}, {}}, DType::kFloat32);
    const Array want = naive(blocks, in);
    test::Scattered from = make.scattered(in.type, Window::all(in.type.shape));
    from.take(in);
    test::Scattered out = make.scattered(want.type, make.window(want.type.shape));
    Arena arena;
    run_blocks(blocks, from.view, out.view, arena);
    ASSERT_TRUE(out.holds(want)) << test::describe(in.type, blocks) << " seed " << seed;
    ASSERT_TRUE(out.nothing_else_written()) << test::describe(in.type, blocks) << " seed " << seed;
    ASSERT_EQ(fused(blocks, in), want) << test::describe(in.type, blocks) << " seed " << seed;
  }
}

// Rotated pictures of pixels of all sizes, in rows longer than any chunk of the fast loops. `in`
// holds only the demanded window.
TEST_P(FusedOnTarget, WarpsAsTheDefinitionsSay) {
  const test::Forced forced(GetParam());
  for (uint32_t seed = 0; seed < 350; ++seed) {
    ChainMaker make(seed + 110000);
    const bool planes = make.one_in(4);
    const int64_t h = make.pick(1, 60), w = make.pick(1, make.one_in(4) ? 700 : 80);
    const int64_t c = make.pick(1, 5);
    const DType type = make.one_in(5)   ? DType::kInt16
                       : make.one_in(3) ? DType::kFloat32
                                        : DType::kUint8;
    Array in({type, planes ? "CHW" : "HWC", planes ? Shape{c, h, w} : Shape{h, w, c}});
    make.fill(in);
    Warp warp{2, {planes, planes + 1}, {make.pick(1, 40), make.pick(1, make.one_in(4) ? 700 : 60)}};
    const double turn = make.real(-3.2, 3.2), scale = make.real(0.3, 1.7);
    const double sine = scale * std::sin(turn), cosine = scale * std::cos(turn);
    warp.matrix[0][0] = warp.matrix[1][1] = cosine;
    warp.matrix[0][1] = sine, warp.matrix[1][0] = -sine;
    for (int i = 0; i < 2; ++i)
      warp.offset[i] =
          (static_cast<double>(i ? w : h) - warp.matrix[i][0] * static_cast<double>(warp.out[0]) -
           warp.matrix[i][1] * static_cast<double>(warp.out[1])) /
          2;
    if (make.one_in(2)) {  // the horizon may lie in the picture
      for (int i = 0; i < 2; ++i) warp.divisor[i] = make.real(-0.03, 0.03);
      if (make.one_in(4)) warp.divisor[1] = 0;
      warp.divisor_offset = make.one_in(3) ? make.real(-1, 3) : 1;
    }
    make.show(warp, in.type);
    std::vector<Block> blocks = {{warp, make.one_in(6) ? DType::kFloat32 : in.type.dtype}};
    if (make.one_in(2)) {
      Gather g = Gather::identity(after(blocks, in.type).shape);
      if (make.one_in(2)) g.axis[planes + 1] = {warp.out[1] - 1, -1, warp.out[1]};
      if (make.one_in(2)) g.axis[planes ? 0 : 2] = {c - 1, -1, c};
      if (make.one_in(2)) g.axis[planes].extent += 5;
      blocks.push_back({g, blocks[0].result});
    }
    if (make.one_in(2)) blocks.push_back({Pointwise{{124}, {-0.017f}, {0.5f}}, DType::kFloat16});
    Store s;
    s.perm[0] = 2, s.perm[1] = 0, s.perm[2] = 1;
    if (make.one_in(3)) blocks.push_back({s, blocks.back().result});
    const Array want = naive(blocks, in);
    const Window wanted = make.window(want.type.shape);
    test::Scattered from = make.scattered(in.type, demand(blocks, in.type, wanted));
    from.take(in);
    test::Scattered out = make.scattered(want.type, wanted);
    Arena arena;
    run_blocks(blocks, from.view, out.view, arena);
    ASSERT_TRUE(out.holds(want)) << test::describe(in.type, blocks) << " seed " << seed;
    ASSERT_TRUE(out.nothing_else_written()) << test::describe(in.type, blocks) << " seed " << seed;
    ASSERT_EQ(fused(blocks, in), want) << test::describe(in.type, blocks) << " seed " << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(Fused, FusedOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

TEST(Fused, LongRowsNeedNoScratchOfTheirLength) {
  constexpr int64_t kLong = 1 << 20;
  Array in({DType::kInt32, "", {kLong}});
  const Block blocks[] = {{Pointwise{{1}, {2}, {3}}, DType::kFloat64}, {Convert{}, DType::kInt64}};
  Array out(after(blocks, in.type));
  Arena arena;
  run_blocks(blocks, in.view(), out.view(), arena);
  EXPECT_LT(arena.used(), 1000u);
  EXPECT_EQ(out, naive(blocks, in));
}

TEST(Fused, APieceOfADensePictureIsOneCopy) {
  ChainMaker make(1);
  Array in({DType::kUint8, "HWC", {40, 30, 3}});
  for (auto& b : in.bytes) b = std::byte(make.pick(0, 255));
  Gather g = Gather::identity({20, 30, 3});
  g.axis[0].start = 7;
  const Block crop{g, DType::kUint8};
  Array out(after(crop, in.type));
  Arena arena;
  run_blocks({&crop, 1}, in.view(), out.view(), arena);
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(std::memcmp(out.bytes.data(), in.bytes.data() + 7 * 90, 20 * 90), 0);
}

}  // namespace
}  // namespace stoker
