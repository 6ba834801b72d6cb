// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The code that calls the CUDA runtime, against the stand-in of fake_testing.h.
#include "device/cuda/cuda.h"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "device/cuda/testing.h"
#include "device/nvml/nvml.h"
#include "device/nvml/stand_in_testing.h"
#include "device/simulated/testing.h"

namespace stoker {
namespace {

using namespace std::string_literals;

std::string missing() { return find_cuda_devices().missing; }

// The calls since this function was called last.
std::vector<std::string> new_calls() { return std::exchange(fake::cuda().calls, {}); }

using Calls = std::vector<std::string>;

constexpr const char* kNeeded = "this build needs one for CUDA 13.0 or newer";

TEST_F(Cuda, SaysWhatIsMissing) {
  auto& c = fake::cuda();
  c.errors["cudaGetDeviceCount"] = {cudaErrorInsufficientDriver, cudaErrorInsufficientDriver,
                                    cudaErrorNoDevice, cudaErrorUnknown};
  c.driver = 0;
  EXPECT_EQ(missing(), "no NVIDIA driver (libcuda.so.1) was found; "s + kNeeded);
  c.driver = 12040;
  EXPECT_EQ(missing(), "the NVIDIA driver (CUDA 12.4) is too old; "s + kNeeded);
  c.driver = 13010;
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  EXPECT_EQ(missing(),
            "the NVIDIA driver (CUDA 13.1) is there, but CUDA sees no GPU: "
            "CUDA_VISIBLE_DEVICES is '7'");
  EXPECT_TRUE(has(missing(), "CUDA 13.1) gives it failed"));
  c.devices = 0;
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(missing(), "the NVIDIA driver (CUDA 13.1) is there, but CUDA sees no GPU");
}

TEST_F(Cuda, SaysMoreWhereTheDriverTellsMore) {
  const fake::StandInNvml nvml;
  auto& c = fake::cuda();
  nvml->driver = "535.54.03";
  c.errors["cudaGetDeviceCount"] = {cudaErrorInsufficientDriver, cudaErrorInsufficientDriver};
  c.driver = 0;
  EXPECT_EQ(missing(),
            "the NVIDIA driver 535.54.03 is there, but its libcuda.so.1 was not found (a container "
            "needs the driver capability 'compute'); "s +
                kNeeded);
  c.driver = 12020;
  EXPECT_EQ(missing(), "the NVIDIA driver 535.54.03 (CUDA 12.2) is too old; "s + kNeeded);
  c.devices = 0;
  EXPECT_EQ(missing(), "the NVIDIA driver 535.54.03 (CUDA 12.2) finds no GPU in this machine");
  nvml->gpus.resize(1);
  EXPECT_EQ(missing(), "the NVIDIA driver 535.54.03 (CUDA 12.2) has 1 GPU, but CUDA sees no GPU");
  nvml->gpus.resize(2);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(missing(),
            "the NVIDIA driver 535.54.03 (CUDA 12.2) has 2 GPUs, but CUDA sees no GPU: "
            "CUDA_VISIBLE_DEVICES is ''");
}

TEST_F(Cuda, TellsApartWhyADriverDoesNotWork) {
  const fake::StandInNvml nvml;
  fake::cuda().errors["cudaGetDeviceCount"] = {cudaErrorUnknown, cudaErrorNoDevice};
  nvml->errors = {{"nvmlInit_v2", nvml::kLibRmVersionMismatch}};
  EXPECT_TRUE(has(missing(), "are of another version than what the system has loaded of it"));
  nvml->errors = {{"nvmlInit_v2", nvml::kDriverNotLoaded}};
  EXPECT_TRUE(has(missing(), "the driver is not loaded (NVML ("));
}

TEST_F(Cuda, NvmlIsAskedByPlaceAndNotByNumber) {
  const fake::StandInNvml nvml;
  nvml->gpus = {{.bus_id = "0000:C1:00.0", .uuid = "GPU-second", .memory = {}},
                {.bus_id = "0000:65:00.0", .uuid = "GPU-first", .memory = {}}};
  const CudaFound found = find_cuda_devices();
  EXPECT_EQ(Nvml().gpu(found.devices[0]->pci_bus_id()).uuid, "GPU-first");
  EXPECT_EQ(Nvml().gpu(found.devices[1]->pci_bus_id()).uuid, "GPU-second");
}

TEST_F(Cuda, EverythingHappensOnItsOwnGpu) {
  const CudaFound found = find_cuda_devices();
  ASSERT_EQ(found.devices.size(), 2u);
  EXPECT_EQ(found.missing, "");
  Device& second = *found.devices[1];
  EXPECT_EQ(second.name(), "cuda:1");
  EXPECT_EQ(second.kind(), "cuda");
  const auto a = second.make_stream("a"), b = second.make_stream("b");
  const auto event = second.make_event();
  std::vector<int> in(100), out(100);
  std::iota(in.begin(), in.end(), 0);
  const auto memory = a->try_acquire(400), other = b->try_acquire(400);
  a->copy(memory->data(), in.data(), 400, Copy::kToDevice, "in");
  a->record(*event);
  b->wait(*event);
  b->copy(other->data(), memory->data(), 400, Copy::kOnDevice, "over");
  b->copy(out.data(), other->data(), 400, Copy::kToHost, "out");
  b->copy(nullptr, nullptr, 0, Copy::kToHost, "nothing");
  b->synchronize();
  second.check();
  second.trim();
  EXPECT_EQ(in, out);
  EXPECT_EQ(fake::cuda().current, -1) << "the caller had none";
  for (const std::string& call : fake::cuda().calls) EXPECT_NE(call.back(), '0') << call;
  EXPECT_EQ(fake::cuda().count("cudaMemcpyAsync 1 1"), 1);  // to the device
  EXPECT_EQ(fake::cuda().count("cudaMemcpyAsync 3 1"), 1);  // on the device
  EXPECT_EQ(fake::cuda().count("cudaMemcpyAsync 2 1"), 1);  // to the host
  EXPECT_EQ(fake::cuda().count("cudaStreamWaitEvent 1"), 1);
  EXPECT_EQ(fake::cuda().count("cudaMemPoolTrimTo 1"), 1);
}

TEST_F(Cuda, MemoryIsCountedAndLimited) {
  fake::cuda().memory = 1000;
  const CudaFound found = find_cuda_devices();
  Device& device = *found.devices[0];
  const auto stream = device.make_stream("s");
  void* p = stream->allocate(600);
  EXPECT_EQ(stream->try_acquire(600), nullptr);
  const std::string text = message<BudgetError>([&] { stream->allocate(600); });
  EXPECT_TRUE(has(text, "cuda:0: no memory for 600 B on stream 's'; 600 B of 1000 B")) << text;
  stream->free(p);
  stream->free(nullptr);
  EXPECT_EQ(device.usage().in_use, 0u);
  EXPECT_EQ(device.usage().allocations, 0);
  EXPECT_EQ(device.usage().high_water, 600u);
  EXPECT_NE(stream->try_acquire(600), nullptr);
  fake::cuda().errors["cudaMallocFromPoolAsync"] = {cudaErrorMemoryAllocation};
  EXPECT_EQ(stream->try_acquire(1), nullptr) << "others may hold the memory";
}

TEST_F(Cuda, TrimmingWaitsForTheStreamsThatMayHaveFreed) {
  const CudaFound found = find_cuda_devices();
  Device& second = *found.devices[1];
  const auto stays = second.make_stream("stays");
  auto ends = second.make_stream("ends"), gone = second.make_stream("gone");
  auto memory = ends->try_acquire(8);
  ends.reset();
  gone.reset();
  (void)new_calls();
  second.trim();
  EXPECT_EQ(new_calls(),
            (Calls{"cudaStreamSynchronize 1", "cudaStreamSynchronize 1", "cudaMemPoolTrimTo 1"}));
  found.devices[0]->trim();
  EXPECT_EQ(new_calls(), Calls{});
}

TEST_F(Cuda, HostMemoryIsPinned) {
  const CudaFound found = find_cuda_devices();
  Device& second = *found.devices[1];
  auto buffer = second.try_pin(5000);
  EXPECT_EQ(buffer->size(), 5000u);
  EXPECT_EQ(fake::cuda().count("cudaHostAlloc 1 1"), 1) << "portable, by the right GPU";
  EXPECT_EQ(second.usage().pinned, 5000u);
  buffer.reset();
  EXPECT_EQ(fake::cuda().count("cudaFreeHost 1"), 1);
  EXPECT_EQ(second.usage().pinned, 0u);
  EXPECT_EQ(second.usage().pinned_high_water, 5000u);
  fake::cuda().errors["cudaHostAlloc 1"] = {cudaErrorMemoryAllocation, cudaErrorUnknown};
  EXPECT_EQ(second.try_pin(1), nullptr);
  EXPECT_TRUE(has(message<DeviceError>([&] { second.try_pin(1); }), "cuda:1, locking host memory"));
}

TEST_F(Cuda, BuffersAndEventsOutliveStreamAndDevice) {
  std::shared_ptr<Buffer> buffer;
  std::unique_ptr<Event> event;
  {
    const CudaFound found = find_cuda_devices();
    const auto stream = found.devices[0]->make_stream("s");
    buffer = stream->try_acquire(10);
    event = found.devices[0]->make_event();
    stream->record(*event);
  }
  EXPECT_TRUE(event->query());
  EXPECT_EQ(fake::cuda().streams, 1);
  buffer.reset();
  event.reset();
  EXPECT_EQ(fake::cuda().count("cudaFreeAsync 0"), 1);
  EXPECT_EQ(fake::cuda().count("cudaStreamDestroy"), 1);
}

const Calls kReturned = {"cudaStreamIsCapturing 1", "cudaEventCreateWithFlags 1",
                         "cudaEventRecord 1", "cudaStreamWaitEvent 1"};

TEST_F(Cuda, AConsumersStreamWaitsAndIsWaitedForOnItsOwnGpu) {
  const CudaFound found = find_cuda_devices();
  Device& second = *found.devices[1];
  const ConsumersStream consumer(1);
  auto stream = second.make_stream("s");
  auto memory = stream->try_acquire(8);
  const auto ready = second.make_event();
  stream->record(*ready);
  const int events = fake::cuda().events;
  (void)new_calls();
  ready->hold_back(consumer.name());
  EXPECT_EQ(new_calls(), Calls{"cudaStreamWaitEvent 1"}) << "nothing waits on the host";
  memory->return_behind(consumer.name());
  EXPECT_EQ(new_calls(), kReturned);
  stream.reset();
  (void)new_calls();
  memory->return_behind(consumer.name());
  EXPECT_EQ(new_calls(), kReturned) << "also when the stream object is gone";
  memory.reset();
  EXPECT_EQ(new_calls(), (Calls{"cudaFreeAsync 1", "cudaStreamDestroy"})) << "behind that";
  EXPECT_EQ(fake::cuda().events, events);
  EXPECT_EQ(fake::cuda().current, -1);
}

TEST_F(Cuda, DefaultStreamsAreThoseOfTheBatchsGpu) {
  const CudaFound found = find_cuda_devices();
  Device& second = *found.devices[1];
  EXPECT_EQ(second.index(), 1);
  const auto stream = second.make_stream("s");
  const auto memory = stream->try_acquire(8);
  const auto ready = second.make_event();
  (void)new_calls();
  for (const ForeignStream s : {ForeignStream::kDefault, ForeignStream::kPerThread}) {
    ready->hold_back(s);
    EXPECT_EQ(fake::cuda().waited_on, static_cast<uintptr_t>(s));
    memory->return_behind(s);
    EXPECT_EQ(fake::cuda().recorded_on, 1u) << "the memory may come back in another thread";
    EXPECT_GT(fake::cuda().waited_on, 2u) << "the stream that gave the memory waits";
    Calls want = {"cudaStreamWaitEvent 1"};
    want.insert(want.end(), kReturned.begin(), kReturned.end());
    EXPECT_EQ(new_calls(), want);
  }
}

TEST_F(Cuda, WhatFailsAtTheReturnIsKept) {
  const CudaFound found = find_cuda_devices();
  const auto stream = found.devices[0]->make_stream("s");
  const auto memory = stream->try_acquire(8);
  fake::cuda().errors["cudaEventRecord"] = {cudaErrorInvalidResourceHandle};
  memory->return_behind(ForeignStream::kDefault);
  EXPECT_EQ(message<DeviceError>([&] { found.devices[0]->check(); }),
            "cuda:0, recording an event on a consumer's stream: it failed (cudaErrorOfTheStandIn)");
  found.devices[0]->check();
}

TEST_F(Cuda, LaunchesAKernelWithACopyOfTheProgram) {
  const CudaFound found = find_cuda_devices();
  const auto stream = found.devices[0]->make_stream("s");
  int target = 0;
  const AddOne program{&target};
  BlockProgram erased = erase(program);
  const std::string text = message<DeviceError>([&] { stream->launch(erased, {1, 1}, "add"); });
  EXPECT_EQ(text, "cuda:0, launch 'add': the program was compiled without nvcc");
  erased.kernel = &target;  // any address will do
  fake::cuda().argument_bytes = sizeof program;
  stream->launch(erased, {7, 96, 1000}, "add");
  stream->launch(erased, {1, 1, 100000}, "much shared memory");
  stream->launch(erased, {0, 1}, "nothing");
  ASSERT_EQ(fake::cuda().launches.size(), 2u);
  const fake::Launch& l = fake::cuda().launches[0];
  EXPECT_EQ(l.kernel, &target);
  EXPECT_EQ(l.blocks, 7u);
  EXPECT_EQ(l.threads, 96u);
  EXPECT_EQ(l.shared, 1000u);
  EXPECT_EQ(std::memcmp(l.argument.data(), &program, sizeof program), 0);
  const std::string asked =
      "cudaFuncSetAttribute " + std::to_string(cudaFuncAttributeMaxDynamicSharedMemorySize);
  EXPECT_EQ(fake::cuda().count(asked + "=1000"), 0);
  EXPECT_EQ(fake::cuda().count(asked + "=100000"), 1);
  for (const Grid grid : {Grid{1, 1025}, Grid{int64_t{1} << 31, 1}, Grid{1, 1, kMaxShared + 1}})
    EXPECT_TRUE(
        has(message<DeviceError>([&] { stream->launch(erased, grid, "big"); }), "launch 'big'"));
}

TEST_F(Cuda, WhatFailsIsNamed) {
  const CudaFound found = find_cuda_devices();
  const auto stream = found.devices[0]->make_stream("s");
  char byte = 0;
  fake::cuda().errors["cudaMemcpyAsync 1"] = {cudaErrorInvalidValue};
  EXPECT_EQ(message<DeviceError>([&] { stream->copy(&byte, "x", 1, Copy::kToDevice, "labels"); }),
            "cuda:0, copy 'labels' on stream 's': it failed (cudaErrorOfTheStandIn)");
  stream->call([] { throw std::runtime_error("no luck"); }, 0, "mine");
  EXPECT_EQ(message<DeviceError>([&] { found.devices[0]->check(); }),
            "cuda:0, call 'mine': no luck");
  found.devices[0]->check();  // thrown only once
  fake::cuda().errors["cudaLaunchHostFunc"] = {cudaErrorInvalidValue};
  EXPECT_TRUE(
      has(message<DeviceError>([&] { stream->call([] {}, 0, "c"); }), "call 'c' on stream 's'"));
}

TEST_F(Cuda, ALostGpuSaysSoWhoeverAsks) {
  const CudaFound found = find_cuda_devices();
  Device& device = *found.devices[0];
  const auto stream = device.make_stream("s");
  const auto event = device.make_event();
  fake::cuda().errors["cudaEventQuery"] = {cudaErrorNotReady};
  event->check();  // not known yet
  fake::cuda().lost = cudaErrorIllegalAddress;
  for (const std::string& text : {message<DeviceError>([&] { device.check(); }),
                                  message<DeviceError>([&] { stream->synchronize(); }),
                                  message<DeviceError>([&] { event->synchronize(); }),
                                  message<DeviceError>([&] { event->check(); }),
                                  message<DeviceError>([&] { (void)stream->try_acquire(1); })}) {
    EXPECT_TRUE(has(text, "cudaErrorIllegalAddress")) << text;
    EXPECT_TRUE(has(text, "STOKER_SYNC=1 names the work that failed; only a new process")) << text;
  }
  EXPECT_TRUE(event->query()) << "nobody waits for it for ever";
}

TEST_F(Cuda, WaitsForEachPieceOfWorkWhereThatIsAskedFor) {
  setenv("STOKER_SYNC", "1", 1);
  const CudaFound found = find_cuda_devices();
  const auto stream = found.devices[0]->make_stream("s");
  char from = 'a', to = 'b';
  stream->copy(&to, &from, 1, Copy::kToDevice, "first");
  EXPECT_EQ(fake::cuda().count("cudaStreamSynchronize 0"), 1);
  fake::cuda().errors["cudaStreamSynchronize"] = {cudaErrorIllegalAddress};
  const std::string text =
      message<DeviceError>([&] { stream->copy(&to, &from, 1, Copy::kToDevice, "second"); });
  EXPECT_TRUE(has(text, "cuda:0, 'second' on stream 's': ")) << text;
  EXPECT_FALSE(has(text, "STOKER_SYNC"));
}

}  // namespace
}  // namespace stoker
