// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_device/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.h"
#include "kernels/fused/fused.h"
#include "kernels/fused/fused_testing.h"
#include "kernels/fused_device/launch_testing.h"

namespace stoker {
namespace {

using test::Array;
using test::ChainMaker;
using test::launch_all;
using test::Scattered;

void expect_bytes_of_run_blocks(uint32_t seeds, int64_t least_extent) {
  std::mt19937 rng(5);
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    FusedBatch batch;
    std::vector<std::vector<Block>> chains(1 + seed % 3);
    std::vector<Scattered> ins, outs, wants;
    ins.reserve(chains.size());
    outs.reserve(chains.size());
    std::string what;
    for (size_t i = 0; i < chains.size(); ++i) {
      ChainMaker make(seed * 3 + static_cast<uint32_t>(i), least_extent);
      const Array in = make.input();
      chains[i] = make.chain(in.type, 1 + (seed + static_cast<uint32_t>(i)) % 5);
      const TensorType made = after(chains[i], in.type);
      const Window wanted = make.window(made.shape);
      ins.push_back(make.scattered(in.type, demand(chains[i], in.type, wanted)));
      ins.back().take(in);
      outs.push_back(make.scattered(made, wanted));
      wants.push_back(outs.back());
      wants.back().view.data =
          wants.back().memory.data() +
          (static_cast<std::byte*>(outs.back().view.data) - outs.back().memory.data());
      Arena arena;
      run_blocks(chains[i], ins.back().view, wants.back().view, arena);
      batch.add(chains[i], ins.back().view, outs.back().view);
      what += test::describe(in.type, chains[i]) + "\n";
    }
    launch_all(batch, rng);
    for (size_t i = 0; i < chains.size(); ++i)
      ASSERT_EQ(outs[i].memory, wants[i].memory) << i << " seed " << seed << "\n" << what;
  }
}

TEST(FusedProgram, IsRunBlocks) { expect_bytes_of_run_blocks(1500, 1); }
TEST(FusedProgram, ExtentsMayBeZero) { expect_bytes_of_run_blocks(1500, 0); }

TEST(FusedProgram, ASampleWithoutValuesHasNoTiles) {
  const Block b{Convert{}, DType::kFloat32};
  for (const Shape& shape : {Shape{2, 2, 0}, Shape{2, 0, 3}, Shape{0, 2, 3}}) {
    FusedBatch batch;
    batch.add({&b, 1}, View::dense(nullptr, DType::kUint8, shape, "HWC"),
              View::dense(nullptr, DType::kFloat32, shape, "HWC"));
    batch.finish();
    EXPECT_EQ(batch.stages()[0].blocks, 0) << shape.str();
  }
}

// A line whose taps do not fit is cut. A value that needs too many goes without shared memory.
TEST(FusedProgram, LongLinesAreCut) {
  std::mt19937 rng(6);
  for (int64_t out_extent : {1, 2, 300}) {
    Array in({DType::kFloat64, "HW", {2, 9000}});
    for (int64_t i = 0; i < 18000; ++i) {
      const double v = static_cast<double>(i % 257);
      std::memcpy(in.bytes.data() + 8 * i, &v, 8);
    }
    const double scale = 9000.0 / static_cast<double>(out_extent);
    const Block b{Resample{1, {{1, out_extent, 0, 9000, Filter::kTriangular, scale}}},
                  DType::kFloat64};
    Array want(after(b, in.type)), got(want.type);
    Arena arena;
    run_blocks({&b, 1}, in.view(), want.view(), arena);
    FusedBatch batch;
    batch.add({&b, 1}, in.view(), got.view());
    launch_all(batch, rng);
    EXPECT_LE(batch.stages()[0].shared_bytes, 32u << 10);
    EXPECT_EQ(got, want);
  }
}

TEST(FusedProgram, OnePassWhereBlocksCompose) {
  uint8_t in[12] = {}, out[12];
  const Block blocks[] = {
      {Resample{2, {{0, 2, 0, 2, Filter::kTriangular, 2}, {1, 2, 0, 2, Filter::kTriangular, 2}}},
       DType::kUint8},
      {Pointwise{{1}, {2}, {}}, DType::kUint8}};
  FusedBatch batch;
  for (int i = 0; i < 3; ++i)
    batch.add(blocks, View::dense(in, DType::kUint8, {2, 2, 3}, "HWC"),
              View::dense(out, DType::kUint8, {2, 2, 3}, "HWC"));
  batch.finish();
  EXPECT_EQ(batch.stages().size(), 1u);
  EXPECT_EQ(batch.scratch_bytes(), 0u);
  EXPECT_GE(batch.stages()[0].blocks, 3);
}

TEST(FusedProgram, WarpsBeginAPass) {
  uint8_t in[12] = {}, out[4];
  Gather crop = Gather::identity({1, 2, 2});
  crop.axis[1] = {4, -1, 2};
  const Block blocks[] = {
      {Warp{2, {0, 1}, {5, 6}, {{0.6, 0.8}, {-0.8, 0.6}}, {1, 2}}, DType::kUint8},
      {Channels{3, 2, {}, {}}, DType::kUint8},
      {crop, DType::kUint8},
      {Pointwise{{1, 2}, {2}, {}}, DType::kUint8}};
  FusedBatch batch;
  batch.add(blocks, View::dense(in, DType::kUint8, {2, 2, 3}, "HWC"),
            View::dense(out, DType::kUint8, {1, 2, 2}, "HWC"));
  batch.finish();
  EXPECT_EQ(batch.stages().size(), 1u);
  EXPECT_EQ(batch.scratch_bytes(), 0u);
}

// A list is longer than all else that a sample brings.
TEST(FusedProgram, SamplesShareLists) {
  std::vector<float> values(65536);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 251);
  const Block b{Table{table_lists(values, 1, 7, DType::kFloat32)}, DType::kFloat32};
  const Shape shape{2, 3, 2};
  std::vector<uint16_t> in(12, 65535);
  std::vector<float> out(12);
  std::mt19937 rng(8);
  FusedBatch batch;
  for (int i = 0; i < 3; ++i)
    batch.add({&b, 1}, View::dense(in.data(), DType::kUint16, shape, "HWC"),
              View::dense(out.data(), DType::kFloat32, shape, "HWC"));
  launch_all(batch, rng);
  EXPECT_LT(batch.tables().size(), 2 * 4 * values.size());
  EXPECT_EQ(out, std::vector<float>(12, 65535 % 251));
}

TEST(FusedProgram, ChannelsJoinAPass) {
  uint8_t in[12] = {}, out[4];
  const Block blocks[] = {
      {Resample{2, {{0, 1, 0, 2, Filter::kTriangular, 2}, {1, 2, 0, 2, Filter::kTriangular, 2}}},
       DType::kUint8},
      {Pointwise{{1, 2, 3}, {2}, {}}, DType::kUint8},
      {Channels{3, 2, {}, {}}, DType::kUint8},
      {Pointwise{{1, 2}, {2}, {}}, DType::kUint8}};
  FusedBatch batch;
  batch.add(blocks, View::dense(in, DType::kUint8, {2, 2, 3}, "HWC"),
            View::dense(out, DType::kUint8, {1, 2, 2}, "HWC"));
  batch.finish();
  EXPECT_EQ(batch.stages().size(), 1u);
}

TEST(FusedProgram, AnOutputOfAnotherTypeIsRefused) {
  uint8_t in[4] = {}, out[4];
  FusedBatch batch;
  const Block b{Convert{}, DType::kInt8};
  EXPECT_THROW(
      batch.add({&b, 1}, View::dense(in, DType::kUint8, {4}), View::dense(out, DType::kUint8, {4})),
      Error);
}

}  // namespace
}  // namespace stoker
