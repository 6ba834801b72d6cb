// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops of GPU halves, on a simulated device: ragged batches, empty samples, windows and
// failures.
#include "op/gpu_run.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/simulated/simulated.h"
#include "op/loops/elements.h"
#include "op/loops/gpu_each.cuh"
#include "op/loops/runs.h"

namespace stoker {
namespace {

// The draw of an element, times ten thousand.
struct Draw {
  Chance chance;
  double operator()(int64_t k) {
    chance.seek(static_cast<uint64_t>(2 * k));
    return chance.uniform() * 1e4;
  }
};

struct Inverted {
  void operator()(const uint8_t* in, uint16_t* out, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint16_t>(1000 - in[i]);
  }
};

class GpuRunTest : public testing::Test {
 protected:
  std::shared_ptr<Buffer> acquire(size_t bytes) {
    auto buffer = stream_->try_acquire(std::max<size_t>(bytes, 1));
    if (!buffer) throw BudgetError("no memory for " + in_words(bytes));
    return buffer;
  }
  std::byte* put(const std::vector<uint8_t>& bytes) {
    held_.push_back(acquire(bytes.size()));
    stream_->copy(held_.back()->data(), bytes.data(), bytes.size(), Copy::kToDevice, "put");
    stream_->synchronize();
    return held_.back()->data();
  }
  void add(const View& in, DType dtype, const Shape& shape) {
    GpuItem item{{in}, {}, Chance(1, 2, 3, static_cast<int64_t>(items_.size()))};
    const auto bytes = static_cast<size_t>(shape.volume() * size_of(dtype));
    held_.push_back(acquire(bytes));
    item.outputs.push_back(View::dense(held_.back()->data(), dtype, shape));
    items_.push_back(item);
  }
  std::vector<std::byte> bytes_of(size_t i) {
    const View& v = items_[i].outputs[0];
    std::vector<std::byte> to(static_cast<size_t>(v.bytes()));
    stream_->copy(to.data(), v.data, to.size(), Copy::kToHost, "get");
    stream_->synchronize();
    return to;
  }

  SimulatedDevice device_;
  Held staged_;  // outlives the stream's work
  std::unique_ptr<Stream> stream_ = device_.make_stream("test");
  std::vector<std::shared_ptr<Buffer>> held_;
  std::vector<GpuItem> items_;
  const std::string name_ = "node";
  HostPool staging_{SIZE_MAX};
  const GpuMemory memory_{[this](size_t bytes) { return acquire(bytes); }, staging_, staged_};
};

TEST_F(GpuRunTest, SetsWhatTheCpuSets) {
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{0, 7}, Shape{3, 5}, Shape{4096}, Shape{70001}})
    for (DType t : {DType::kFloat32, DType::kUint8, DType::kInt64, DType::kFloat16, DType::kBool})
      add({}, t, shape);
  {
    GpuRun r(*stream_, name_, items_, memory_);
    set_elements(r, [&](size_t i) { return Draw{items_[i].chance}; });
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    View want = items_[i].outputs[0];
    std::vector<std::byte> bytes(static_cast<size_t>(want.bytes()));
    want.data = bytes.data();
    set_elements(want, Draw{items_[i].chance});
    EXPECT_EQ(bytes_of(i), bytes) << i;
  }
}

TEST_F(GpuRunTest, MapsStridedInputs) {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(7 * i);
  View in = View::dense(put(bytes), DType::kUint8, {5, 8});
  in.strides = {32, 2};  // every other byte of longer rows
  View mirrored = in;  // the same elements from last to first
  mirrored.data = in.as<std::byte>() + 4 * 32 + 7 * 2;
  mirrored.strides = {-32, -2};
  for (const View& v : {in, mirrored, in}) {
    add(v, DType::kUint16, {5, 8});
    add(v, DType::kUint16, {0, 8});
  }
  for (const Shape& shape : {Shape{}, Shape{240}, Shape{1, 240}, Shape{6, 5, 8}, Shape{2, 1, 3, 4}})
    add(View::dense(in.data, DType::kUint8, shape), DType::kUint16, shape);
  // The first two axes lie as one, and so do the last two.
  View rows = View::dense(in.data, DType::kUint8, {3, 2, 4, 5});
  rows.strides = {60, 30, 5, 1};
  add(rows, DType::kUint16, rows.shape);
  {
    GpuRun r(*stream_, name_, items_, memory_);
    for_each_run<uint8_t, uint16_t>(r, [](size_t) { return Inverted{}; });
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    View from = items_[i].inputs[0], to = items_[i].outputs[0];
    from.data = bytes.data() + (from.as<std::byte>() - in.as<std::byte>());
    std::vector<std::byte> want(static_cast<size_t>(to.bytes()));
    to.data = want.data();
    for_each_run<uint8_t, uint16_t>(from, to, Inverted{});
    EXPECT_EQ(bytes_of(i), want) << i;
  }
}

TEST_F(GpuRunTest, NothingToDoIsNoLaunch) {
  add({}, DType::kFloat32, {0});
  GpuRun r(*stream_, name_, items_, memory_);
  set_elements(r, [&](size_t i) { return Draw{items_[i].chance}; });
  stream_->synchronize();
  EXPECT_TRUE(device_.timeline().empty());
}

TEST_F(GpuRunTest, LetsAMissOfMemoryThrough) {
  add({}, DType::kFloat32, {5000});
  int left = 1;  // enough for the items, not for their first blocks
  const GpuMemory memory{[&](size_t bytes) {
                           if (left-- == 0) throw BudgetError("no memory");
                           return acquire(bytes);
                         },
                         staging_, staged_};
  const auto before = device_.usage().allocations;
  {
    GpuRun r(*stream_, name_, items_, memory);
    EXPECT_THROW(set_elements(r, [&](size_t i) { return Draw{items_[i].chance}; }), BudgetError);
  }
  stream_->synchronize();
  EXPECT_EQ(device_.usage().allocations, before);
}

TEST_F(GpuRunTest, GivesItsMemoryBack) {
  add({}, DType::kFloat32, {5000});
  const auto before = device_.usage().allocations;
  {
    GpuRun r(*stream_, name_, items_, memory_);
    set_elements(r, [&](size_t i) { return Draw{items_[i].chance}; });
    EXPECT_GT(device_.usage().allocations, before);
  }
  EXPECT_EQ(device_.usage().allocations, before);
  EXPECT_EQ(bytes_of(0).size(), 20000u);  // the enqueued work was done
}

}  // namespace
}  // namespace stoker
