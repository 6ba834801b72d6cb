// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of the CUDA code: a check that nothing is left in the stand-in, and consumers.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "device/cuda/cuda.h"
#include "device/cuda/fake_testing.h"

namespace stoker {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    fake::reset();
    setenv("STOKER_NVML", "/nowhere", 1);
  }
  void TearDown() override {
    EXPECT_TRUE(fake::cuda().allocated.empty());
    EXPECT_EQ(fake::cuda().streams, 0);
    EXPECT_EQ(fake::cuda().events, 0);
    EXPECT_EQ(fake::cuda().pools, 0);
    unsetenv("STOKER_SYNC");
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("STOKER_NVML");
  }
};

class ConsumersStream {
 public:
  explicit ConsumersStream(int device) {
    const int before = std::exchange(fake::Cuda::current, device);
    (void)cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    fake::Cuda::current = before;
  }
  ~ConsumersStream() { (void)cudaStreamDestroy(stream_); }
  ForeignStream name() const {
    return static_cast<ForeignStream>(reinterpret_cast<uintptr_t>(stream_));
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace stoker
