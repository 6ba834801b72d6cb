// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps that are the same for all channels, of pixels that lie apart, backwards or in gaps.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/fused/fused.h"
#include "kernels/fused/fused_testing.h"
#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

using test::Array;
using test::ChainMaker;

Array result_of(std::span<const Block> blocks, const View& in, const TensorType& type) {
  Arena arena;
  Array out(after(blocks, type));
  run_blocks(blocks, in, out.view(), arena);
  return out;
}

std::vector<Block> steps_for(DType type, int which) {
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 3 * static_cast<float>(i) - 100;
  std::vector<Block> steps;
  if (which != 1) steps.push_back({Table{table_lists(values, 1, 7, type)}, type});
  if (which != 0) steps.push_back({Pointwise{{3}, {0.5f}, {}}, DType::kFloat32});
  return steps;
}

class StepsOnTarget : public ::testing::TestWithParam<test::Instructions> {
 protected:
  static void expect_as_dense(const Array& in, const Gather& part, int which) {
    const std::vector<Block> steps = steps_for(in.type.dtype, which);
    const std::vector<Block> cut = {{part, in.type.dtype}};
    const Array dense = result_of(cut, in.view(), in.type);
    std::vector<Block> both = cut;
    both.insert(both.end(), steps.begin(), steps.end());
    EXPECT_EQ(result_of(both, in.view(), in.type), result_of(steps, dense.view(), dense.type))
        << in.type.str() << " " << which;
  }
};

TEST_P(StepsOnTarget, SomeChannelsAreAsADenseCopyOfThem) {
  const test::Forced forced(GetParam());
  ChainMaker make(1);
  for (const DType type : {DType::kUint8, DType::kInt16, DType::kInt32})
    for (const int64_t width : {1, 5, 63, 300})
      for (const int64_t channels : {4, 5, 9, 20})
        for (int which = 0; which < 3; ++which) {
          Array in({type, "HWC", {7, width, channels}});
          make.fill(in);
          Gather part = Gather::identity(in.type.shape);
          part.axis[2] = {make.pick(0, 1), 1, 3};
          expect_as_dense(in, part, which);
        }
}

TEST_P(StepsOnTarget, TurnedAndSparsePixelsAreAsADenseCopyOfThem) {
  const test::Forced forced(GetParam());
  ChainMaker make(2);
  for (const DType type : {DType::kUint8, DType::kUint16, DType::kInt64})
    for (const int64_t width : {2, 33, 257})
      for (const int64_t channels : {1, 2, 3, 4, 8})
        for (int which = 0; which < 3; ++which) {
          Array in({type, "HWC", {5, width, channels}});
          make.fill(in);
          Gather mirrored = Gather::identity(in.type.shape), sparse = mirrored, turned = mirrored;
          mirrored.axis[1] = {width - 1, -1, width};
          sparse.axis[1] = {1, 2, width / 2};
          turned.axis[2] = {channels - 1, -1, channels};
          for (const Gather& part : {mirrored, sparse, turned}) expect_as_dense(in, part, which);
        }
}

// The memory of decoders or users may have gaps without any Gather.
TEST_P(StepsOnTarget, MemoryWithGapsIsAsADenseCopyOfIt) {
  const test::Forced forced(GetParam());
  ChainMaker make(3);
  for (const int64_t width : {1, 40, 333})
    for (int which = 0; which < 3; ++which) {
      Array wide({DType::kUint8, "HWC", {6, width, 5}}),
          dense({DType::kUint8, "HWC", {6, width, 3}});
      make.fill(wide);
      for (int64_t k = 0; k < 6 * width; ++k)
        std::memcpy(dense.bytes.data() + 3 * k, wide.bytes.data() + 5 * k, 3);
      View gaps = dense.view();
      gaps.data = wide.bytes.data();
      gaps.strides = {5 * width, 5, 1};
      const std::vector<Block> steps = steps_for(DType::kUint8, which);
      EXPECT_EQ(result_of(steps, gaps, dense.type), result_of(steps, dense.view(), dense.type));
    }
}

INSTANTIATE_TEST_SUITE_P(Steps, StepsOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
