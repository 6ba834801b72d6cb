// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The code that calls the CUDA runtime, beside others in the process, against the stand-in: Notes
// [Guests of the process], [After a fork].
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "device/cuda/testing.h"
#include "device/simulated/testing.h"

namespace stoker {
namespace {

class CudaNeighbours : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    found_ = find_cuda_devices();
  }
  void TearDown() override {
    found_ = {};
    Cuda::TearDown();
  }
  Device& device(int i) { return *found_.devices.at(static_cast<size_t>(i)); }

 private:
  CudaFound found_;
};

TEST_F(CudaNeighbours, OnlyTheGpusThatAreUsedGetAContext) {
  EXPECT_EQ(device(1).usage().limit, fake::cuda().memory);
  EXPECT_EQ(device(1).pci_bus_id(), "0000:C1:00.0");
  for (int i : {0, 1}) {
    device(i).check();
    device(i).trim();
  }
  EXPECT_TRUE(fake::cuda().contexts.empty());
  const auto stream = device(1).make_stream("s");
  EXPECT_EQ(fake::cuda().contexts, std::set{1});
}

TEST_F(CudaNeighbours, AGpuThatGivesNoContextSaysSoWhenItIsUsedAndNoOtherDoes) {
  fake::cuda().busy = {0};
  const std::string want = "cuda:0, making a context: it failed (cudaErrorOfTheStandIn)";
  EXPECT_EQ(message<DeviceError>([&] { (void)device(0).make_stream("s"); }), want);
  EXPECT_EQ(message<DeviceError>([&] { (void)device(0).make_event(); }), want);
  EXPECT_EQ(message<DeviceError>([&] { (void)device(0).try_pin(1); }), want);
  EXPECT_NE(device(1).make_stream("s"), nullptr);
  fake::cuda().busy.clear();
  for (const char* step :
       {"cudaEventCreateWithFlags", "cudaMemPoolCreate", "cudaMemPoolSetAttribute"}) {
    fake::cuda().errors[step] = {cudaErrorNotSupported};
    EXPECT_TRUE(
        has(message<DeviceError>([&] { (void)device(0).make_stream("s"); }), "cuda:0, making a"));
  }
  EXPECT_NE(device(0).make_stream("s"), nullptr) << "it may at the next call";
}

TEST_F(CudaNeighbours, ThreadsKeepTheContextThatTheyHad) {
  const auto stream = device(1).make_stream("s");
  const auto event = device(1).make_event();
  std::thread([&] {
    (void)event->query();
    event->synchronize();
    (void)stream->try_acquire(8);
    EXPECT_EQ(fake::Cuda::current, -1) << "none";
  }).join();
  fake::Cuda::current = 0;
  stream->synchronize();
  EXPECT_EQ(fake::Cuda::current, 0);
  EXPECT_EQ(fake::cuda().contexts, std::set{1});
}

TEST_F(CudaNeighbours, NothingSpoilsACaptureOfOthers) {
  const auto before = device(0).make_stream("before");
  fake::cuda().is_capturing = true;
  {
    const auto stream = device(1).make_stream("s");
    const auto event = device(1).make_event();
    const auto pinned = device(1).try_pin(100);
    const auto memory = stream->try_acquire(8);
    char byte = 0;
    stream->copy(memory->data(), &byte, 1, Copy::kToDevice, "copy");
    stream->record(*event);
    EXPECT_TRUE(event->query());
    event->synchronize();
    event->check();
    stream->synchronize();
    device(1).check();
    device(1).trim();
  }
  EXPECT_FALSE(fake::cuda().is_spoilt);
  EXPECT_EQ(fake::Cuda::mode, cudaStreamCaptureModeGlobal);
}

TEST_F(CudaNeighbours, WhatACaptureHindersIsNotReached) {
  const auto event = device(0).make_event();
  for (const cudaError_t e :
       {cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureWrongThread}) {
    fake::cuda().errors["cudaEventQuery"] = {e, e, e};
    EXPECT_FALSE(event->query());
    event->check();
    device(0).check();
    EXPECT_TRUE(event->query());
  }
}

TEST_F(CudaNeighbours, WhatCannotBeOrderedIsNotGivenOutAgain) {
  const ConsumersStream consumer(1);
  const auto stream = device(1).make_stream("s");
  const auto handle = static_cast<uintptr_t>(consumer.name());
  const auto let_go = [&](ForeignStream of) {
    auto memory = stream->try_acquire(8);
    memory->return_behind(of);
    memory.reset();
    return device(1).usage().in_use;
  };
  EXPECT_EQ(let_go(consumer.name()), 0u);
  fake::cuda().captured = {handle};
  EXPECT_EQ(let_go(consumer.name()), 8u);
  fake::cuda().errors["cudaStreamIsCapturing"] = {cudaErrorStreamCaptureImplicit};
  EXPECT_EQ(let_go(ForeignStream::kDefault), 16u);
  device(1).check();  // no error is kept
  fake::cuda().errors["cudaStreamIsCapturing"] = {cudaErrorInvalidResourceHandle};
  EXPECT_EQ(let_go(ForeignStream::kDefault), 24u);
  EXPECT_TRUE(
      has(message<DeviceError>([&] { device(1).check(); }), "looking at a consumer's stream"));
  EXPECT_EQ(fake::cuda().count("cudaDeviceSynchronize 1"), 0);

  fake::cuda().errors["cudaDeviceSynchronize"] = {cudaErrorStreamCaptureUnsupported};
  EXPECT_TRUE(
      has(message<DeviceError>([&] { device(1).trim(); }), "waiting for what consumers do"));
  EXPECT_EQ(device(1).usage().in_use, 24u);
  device(1).trim();
  EXPECT_EQ(device(1).usage().in_use, 0u);
  EXPECT_EQ(device(1).usage().allocations, 0);
  EXPECT_EQ(fake::cuda().count("cudaFree 1"), 3);
  EXPECT_EQ(let_go(consumer.name()), 8u) << "this one goes when the device does";
}

// Forks while this thread holds the runtime's lock, as another thread may. A child that lets go of
// everything must end, without making any call.
TEST_F(CudaNeighbours, AChildLeavesTheParentsThingsAsTheyAre) {
  auto stream = device(0).make_stream("s");
  auto event = device(0).make_event();
  auto memory = stream->try_acquire(8), other = stream->try_acquire(8);
  auto pinned = device(0).try_pin(100);
  int status = -1;
  fake::cuda().on_call = [&](const std::string& function) {
    if (function != "cudaMallocFromPoolAsync") return;
    const size_t calls = fake::cuda().calls.size();
    if (const pid_t child = fork(); child > 0) {
      waitpid(child, &status, 0);
      return;
    }
    alarm(20);  // ends a child that waits for the lock
    other->return_behind(ForeignStream::kDefault);
    other.reset();
    memory.reset();
    pinned.reset();
    event.reset();
    stream.reset();
    _exit(fake::cuda().calls.size() == calls ? 0 : 1);
  };
  (void)stream->try_acquire(8);
  fake::cuda().on_call = nullptr;
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace stoker
