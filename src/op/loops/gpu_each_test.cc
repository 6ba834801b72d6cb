// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops of GPU halves on a simulated device: ragged batches, empty samples, windows, failures.
#include "op/gpu_run.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/simulated/simulated.h"
#include "kernels/elements/fill.h"
#include "kernels/elements/map.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {
namespace {

struct Squares {
  double operator()(int64_t number) const { return static_cast<double>(number * number); }
};

// Values of one draw, of two, and two values of two.
struct OneOfOne {
  static constexpr int kDraws = 1, kValues = 1;
  void operator()(const uint32_t* draw, float* value) const { *value = uniform_of(*draw, 0, 1e4f); }
};
struct OneOfTwo {
  static constexpr int kDraws = 2, kValues = 1;
  void operator()(const uint32_t* draws, double* value) const {
    *value = draws[0] * 0.5 + draws[1];
  }
};
struct TwoOfTwo {
  static constexpr int kDraws = 2, kValues = 2;
  void operator()(const uint32_t* draws, float* values) const {
    values[0] = static_cast<float>(draws[1]);
    values[1] = static_cast<float>(draws[0]);
  }
};

struct Inverted {
  uint16_t operator()(uint8_t v) const { return static_cast<uint16_t>(1000 - v); }
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
    BatchItem item{{in}, {}, Chance(1, 2, 3, static_cast<int64_t>(items_.size()))};
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
  std::vector<BatchItem> items_;
  const std::string name_ = "node";
  HostPool staging_{SIZE_MAX};
  const GpuMemory memory_{[this](size_t bytes) { return acquire(bytes); }, staging_, staged_};
};

TEST_F(GpuRunTest, SetsWhatTheCpuSets) {
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{0, 7}, Shape{3, 5}, Shape{4096}, Shape{70001}})
    for (DType t : {DType::kFloat32, DType::kUint8, DType::kInt64, DType::kFloat16, DType::kBool})
      add({}, t, shape);
  const auto expect_as_on_the_cpu = [&](const auto& on_device, const auto& on_cpu) {
    {
      GpuRun r(*stream_, name_, items_, memory_);
      on_device(r);
    }
    for (size_t i = 0; i < items_.size(); ++i) {
      View want = items_[i].outputs[0];
      std::vector<std::byte> bytes(static_cast<size_t>(want.bytes()));
      want.data = bytes.data();
      on_cpu(want, items_[i].chance);
      EXPECT_EQ(bytes_of(i), bytes) << i;
    }
  };
  expect_as_on_the_cpu([](GpuRun& r) { fill<double>(r, [](size_t) { return Squares{}; }); },
                       [](const View& out, const Chance&) { fill<double>(out, Squares{}); });
  expect_as_on_the_cpu([](GpuRun& r) { fill_draws<float>(r, [](size_t) { return OneOfOne{}; }); },
                       [](const View& v, const Chance& c) { fill_draws<float>(v, c, OneOfOne{}); });
  expect_as_on_the_cpu(
      [](GpuRun& r) { fill_draws<double>(r, [](size_t) { return OneOfTwo{}; }); },
      [](const View& v, const Chance& c) { fill_draws<double>(v, c, OneOfTwo{}); });
  expect_as_on_the_cpu([](GpuRun& r) { fill_draws<float>(r, [](size_t) { return TwoOfTwo{}; }); },
                       [](const View& v, const Chance& c) { fill_draws<float>(v, c, TwoOfTwo{}); });
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
    map<uint16_t, uint8_t>(r, [](size_t) { return Inverted{}; });
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    View from = items_[i].inputs[0], to = items_[i].outputs[0];
    from.data = bytes.data() + (from.as<std::byte>() - in.as<std::byte>());
    std::vector<std::byte> want(static_cast<size_t>(to.bytes()));
    to.data = want.data();
    map<uint16_t, uint8_t>(to, Inverted{}, from);
    EXPECT_EQ(bytes_of(i), want) << i;
  }
}

TEST_F(GpuRunTest, NothingToDoIsNoLaunch) {
  add({}, DType::kFloat32, {0});
  GpuRun r(*stream_, name_, items_, memory_);
  fill_draws<float>(r, [](size_t) { return OneOfOne{}; });
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
    EXPECT_THROW(fill_draws<float>(r, [](size_t) { return OneOfOne{}; }), BudgetError);
  }
  stream_->synchronize();
  EXPECT_EQ(device_.usage().allocations, before);
}

TEST_F(GpuRunTest, GivesItsMemoryBack) {
  add({}, DType::kFloat32, {5000});
  const auto before = device_.usage().allocations;
  {
    GpuRun r(*stream_, name_, items_, memory_);
    fill_draws<float>(r, [](size_t) { return OneOfOne{}; });
    EXPECT_GT(device_.usage().allocations, before);
  }
  EXPECT_EQ(device_.usage().allocations, before);
  EXPECT_EQ(bytes_of(0).size(), 20000u);  // the enqueued work was done
}

}  // namespace
}  // namespace stoker
