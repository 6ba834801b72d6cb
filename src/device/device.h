// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The small interface in front of accelerators: memory, copies, block programs, streams, events.
// Devices are thread-safe. A stream takes work from one thread at a time. Any thread may ask an
// event.
//
// Note [Device errors]
// A wrong request (a range outside an allocation, a grid that no device takes) throws DeviceError
// at once. Work that fails later, on the stream, is kept as a DeviceError that names the work and
// its stream. The next event recorded on that stream carries the error, and so does everything that
// waits for that event: Event::synchronize throws it every time, whoever else has seen it.
// Stream::synchronize and Device::check throw only errors that were not thrown yet. Copies and
// launches after the failed work, up to that event, are left out. Host calls still run and events
// are still reached, so nothing hangs. Most failures of a GPU are final; then every call throws.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/types.h"
#include "memory/buffer.h"

namespace stoker {

class Device;

struct Grid {
  int64_t blocks = 0;
  int threads = 1;  // of a thread block, at most 1,024
  size_t shared_bytes = 0;  // of a thread block, at most 227 KiB
  int64_t cost_ns = 0;  // an estimate, for the virtual clock of a simulated device
};
inline constexpr int kMaxThreads = 1024;
inline constexpr size_t kMaxShared = 227 << 10;

// Note [Block programs]
// A kernel runs in thread blocks. It is a struct of plain values and pointers with
//   static constexpr int kPhases;
//   STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const;
// All threads of a block meet between two phases. Within a phase they run in any order or at once,
// and so do blocks. Values that live from one phase to the next are in `shared`, which is aligned
// to 128 bytes and undefined at first. The struct must not be a private member: nvcc refuses those.
//
// erase() makes this struct of one. A GPU also needs `kernel`, which only nvcc can make: .cu files
// launch such programs with launch_blocks() of device/block_kernel.cuh.
struct BlockProgram {
  const void* object;  // owned by the caller, used during the call
  size_t bytes;
  int phases;
  // Runs one phase of one block; its threads run in this order.
  void (*run_phase)(const void* object, int phase, int64_t block, std::span<const int> order,
                    std::byte* shared);
  const void* kernel = nullptr;  // the same program as a __global__ function
};

template <class P>
BlockProgram erase(const P& program) {
  static_assert(std::is_trivially_copyable_v<P>,
                "a block program is copied to the device byte by byte");
  static_assert(alignof(P) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "a block program needs no special alignment");
  static_assert(P::kPhases > 0);
  return {&program, sizeof(P), P::kPhases,
          [](const void* object, int phase, int64_t block, std::span<const int> order,
             std::byte* shared) {
            const P& p = *static_cast<const P*>(object);
            for (int thread : order)
              p.run(phase, block, thread, static_cast<int>(order.size()), shared);
          }};
}

// A stream that someone else owns, by its name in the runtime: a cudaStream_t or one of these.
// SimulatedDevice::foreign() gives that of a simulated device.
enum class ForeignStream : uintptr_t {
  kDefault = 1,  // the legacy default stream
  kPerThread = 2,  // the calling thread's default stream
};

// The point in a stream's work where Stream::record was called last; reached before any call.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool query() const = 0;  // whether it is reached; never waits, throws no kept error
  virtual void synchronize() = 0;  // waits; throws what failed: Note [Device errors]
  virtual void check() const = 0;  // throws the same if it is reached; never waits
  // Makes work that others enqueue on their stream from now on start after the event's point. Does
  // not wait itself. Throws DeviceError, also when this device has no such stream.
  virtual void hold_back(ForeignStream stream) const = 0;
};

// Memory from a stream: see Stream::try_acquire.
class DeviceBuffer : public Buffer {
 public:
  // Makes the return of this memory, and all that the stream which gave it does from now on, come
  // after what others have enqueued on their stream. Does not wait itself. Keeps what fails: Note
  // [Device errors]. Any thread may call it, even when stream and device are gone.
  virtual void return_behind(ForeignStream stream) noexcept = 0;

 protected:
  using Buffer::Buffer;
};

enum class Copy : uint8_t { kToDevice, kToHost, kOnDevice };

// Runs work in the order in which it is enqueued. Only events order streams among each other. Each
// piece of work has a name for errors and timelines. Only synchronize() and the destructor wait.
class Stream {
 public:
  virtual ~Stream() = default;  // finishes what was enqueued
  virtual Device& device() const = 0;
  virtual const std::string& name() const = 0;

  // Allocates memory for work that is enqueued here from now on. Other streams must wait for an
  // event that is recorded after this. Aligned to 256 bytes, undefined. Throws BudgetError when the
  // device's limit does not allow it.
  virtual void* allocate(size_t bytes) = 0;
  // Frees memory after the work that was enqueued so far; it counts as free at once. Events must
  // order work on other streams that uses it before this. Null does nothing.
  virtual void free(void* p) = 0;
  // allocate() with an owner, which calls free() here when the last holder lets go, even if this
  // stream object is gone. Null when the device's limit does not allow it now.
  virtual std::shared_ptr<DeviceBuffer> try_acquire(size_t bytes) = 0;

  // Requires: the host memory does not change until the copy is done. Unless that memory came from
  // Device::try_pin, the caller may have to wait for the stream.
  virtual void copy(void* to, const void* from, size_t bytes, Copy direction,
                    std::string_view name) = 0;
  // Runs a copy of `program` (Note [Block programs]). An empty grid does nothing.
  void launch(const BlockProgram& program, const Grid& grid, std::string_view name) {
    if (grid.blocks != 0 && grid.threads != 0) launch_erased(program, grid, name);
  }
  // Runs it on simulated devices only.
  template <class P>
  void launch(const P& program, const Grid& grid, std::string_view name) {
    launch(erase(program), grid, name);
  }
  // Calls `call` on a thread of the runtime. Requires: it uses no stream, event or device.
  virtual void call(std::function<void()> call, int64_t cost_ns, std::string_view name) = 0;

  virtual void record(Event& event) = 0;
  // Work that is enqueued from now on starts after the event's present point. Requires: the event
  // is of this device.
  virtual void wait(const Event& event) = 0;
  // Waits on the host for all that was enqueued, and throws what failed: Note [Device errors].
  virtual void synchronize() = 0;

 protected:
  virtual void launch_erased(const BlockProgram& program, const Grid& grid,
                             std::string_view name) = 0;
};

struct DeviceUsage {
  size_t limit = 0;
  size_t in_use = 0;  // allocated and not yet freed, in the order of the calls
  int64_t allocations = 0;  // number of the allocations in use
  size_t high_water = 0;
  size_t pinned = 0, pinned_high_water = 0;  // bytes of host memory pinned for it
};

// Streams, events and buffers may outlive their device object.
class Device {
 public:
  virtual ~Device() = default;
  virtual const std::string& name() const = 0;  // "simulated:0"
  virtual std::string_view kind() const = 0;  // "simulated"
  virtual int index() const = 0;  // for a GPU, the CUDA runtime's number
  // Its place in the machine, such as "0000:65:00.0"; "" if it has none.
  virtual const std::string& pci_bus_id() const = 0;
  virtual std::unique_ptr<Stream> make_stream(std::string name) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  // Pins host memory, aligned to a page, which the device reads and writes by itself. This is slow,
  // and freeing it may wait for the device. Null when the system does not give it.
  virtual std::shared_ptr<Buffer> try_pin(size_t bytes) = 0;
  virtual DeviceUsage usage() const = 0;
  // Throws, without waiting, what failed until now, as a batch is handed out: Note [Device errors].
  virtual void check() = 0;
  // Waits for its streams and gives memory that it keeps for later allocations back to the system.
  virtual void trim() = 0;
};

// What a batch on a device has in addition to its buffers.
struct DeviceBatch {
  Device* device = nullptr;
  std::unique_ptr<Event> ready;  // the bytes may be read after it
  std::string step;  // the batch's step, for errors
};

// The devices of this process, in order. They live as long as the process. If the environment
// variable STOKER_SIMULATED_DEVICES=<count> or use_simulated_devices() asks for simulated devices
// (device/simulated/simulated.h), there are no others. Throws DeviceError when the variable is not
// a count. Thread-safe.
std::vector<Device*> devices();
// Why devices() has no GPU: what is missing, with the versions found and needed; or "".
std::string missing_gpu();
// Throws DeviceError that says what is missing.
Device& device(int index);

}  // namespace stoker
