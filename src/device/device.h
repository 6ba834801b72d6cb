// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The small interface in front of accelerators: memory, copies, block programs, streams, events.
// Devices are thread-safe; a stream takes work from one thread at a time, an event may be asked
// from any.
//
// Note [Device errors]
// What is wrong when it is asked for (a range outside an allocation, a grid that no device takes)
// throws DeviceError there. What fails later, on the stream, is a DeviceError that names the work
// and its stream. The next event recorded there knows of it, and so does what waits for that event:
// Event::synchronize throws it, however often and whoever else was told. Stream::synchronize and
// Device::check throw what nobody was told yet. Copies and launches behind it, up to that event,
// are not done; host calls are, and events still come, so nothing hangs. A GPU that fails mostly
// does so for good: then everyone is told.
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

// How many blocks of how many threads, and shared memory for each block.
struct Grid {
  int64_t blocks = 0;
  int threads = 1;  // at most 1,024
  size_t shared_bytes = 0;  // at most 227 KiB
  int64_t cost_ns = 0;  // an estimate, for the virtual clock of a simulated device
};
inline constexpr int kMaxThreads = 1024;
inline constexpr size_t kMaxShared = 227 << 10;

// Note [Block programs]
// A kernel is a struct of plain values and pointers with
//   static constexpr int kPhases;
//   STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const;
// Between two phases all threads of a block meet; within one they run in any order or at once, and
// blocks too. Values that live from one phase to the next are in `shared` (aligned to 128 bytes,
// undefined at first). It is not a private member: nvcc refuses those.
//
// erase() gives this. For a GPU `kernel` is needed too, which only nvcc can make: programs that are
// to run there are launched with launch_blocks() of device/block_kernel.cuh, from .cu files.
struct BlockProgram {
  const void* object;  // of the caller, during the call
  size_t bytes;
  int phases;
  // One phase of one block, its threads in this order.
  void (*run_phase)(const void* object, int phase, int64_t block, std::span<const int> order,
                    std::byte* shared);
  const void* kernel = nullptr;  // the same as a __global__ function
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

// A stream that others own, by the name that the runtime has for it: a cudaStream_t, or one of
// these; for simulated devices what SimulatedDevice::foreign() says.
enum class ForeignStream : uintptr_t {
  kDefault = 1,  // the legacy default stream
  kPerThread = 2,  // the calling thread's default stream
};

// A point in a stream's work: that of the last Stream::record. Until the first one it counts as
// reached.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool query()
      const = 0;  // whether it is reached; never waits, never throws a stored error
  virtual void synchronize() = 0;  // waits for it; throws what failed: Note [Device errors]
  virtual void check() const = 0;  // the same where it is reached already; never waits
  // What others enqueue on their stream behind this call starts after the point that this event
  // stands for.
  // Waits for nothing itself. Throws DeviceError, also when this device has no such stream.
  virtual void hold_back(ForeignStream stream) const = 0;
};

// Memory that a stream gave: Stream::try_acquire.
class DeviceBuffer : public Buffer {
 public:
  // What others enqueued on their stream until now comes before the return of this memory, and
  // before all that the stream which gave it is to do from now on. Waits for nothing itself. What
  // fails is kept: Note [Device errors]. Any thread, whether or not stream and device still stand.
  virtual void return_behind(ForeignStream stream) noexcept = 0;

 protected:
  using Buffer::Buffer;
};

enum class Copy : uint8_t { kToDevice, kToHost, kOnDevice };

// Work in the order of its enqueueing; streams are ordered among each other by events only. Each
// piece of work has a name for errors and timelines. Nothing here waits for the device but
// synchronize() and the destructor.
class Stream {
 public:
  virtual ~Stream() = default;  // finishes what was enqueued
  virtual Device& device() const = 0;
  virtual const std::string& name() const = 0;

  // Memory for work that is enqueued here from now on; other streams wait for an event recorded
  // after this. Aligned to 256 bytes, undefined. Throws BudgetError when the device's limit does
  // not allow it.
  virtual void* allocate(size_t bytes) = 0;
  // Frees it behind the work enqueued so far; it counts as free at once. Work on other streams that
  // uses it must be ordered before this by events. Null does nothing.
  virtual void free(void* p) = 0;
  // allocate() with an owner that calls free() here when the last holder lets go, whether or not
  // this stream still stands. Null when the device's limit does not allow it now.
  virtual std::shared_ptr<DeviceBuffer> try_acquire(size_t bytes) = 0;

  // Host memory stays as it is until the copy is done. Where it is not of Device::try_pin the
  // caller may wait for the stream.
  virtual void copy(void* to, const void* from, size_t bytes, Copy direction,
                    std::string_view name) = 0;
  // Runs `program` (Note [Block programs]) on a copy of it. An empty grid is nothing to do.
  void launch(const BlockProgram& program, const Grid& grid, std::string_view name) {
    if (grid.blocks != 0 && grid.threads != 0) launch_erased(program, grid, name);
  }
  // The same; on simulated devices only.
  template <class P>
  void launch(const P& program, const Grid& grid, std::string_view name) {
    launch(erase(program), grid, name);
  }
  // Calls `call` on a thread of the runtime's. Requires: it uses no stream, event or device.
  virtual void call(std::function<void()> call, int64_t cost_ns, std::string_view name) = 0;

  virtual void record(Event& event) = 0;
  // Work enqueued from now on starts after what `event` stands for now. Requires: an event of this
  // device.
  virtual void wait(const Event& event) = 0;
  // Waits on the host for all that was enqueued; throws what failed: Note [Device errors].
  virtual void synchronize() = 0;

 protected:
  virtual void launch_erased(const BlockProgram& program, const Grid& grid,
                             std::string_view name) = 0;
};

struct DeviceUsage {
  size_t limit = 0;
  size_t in_use = 0;  // allocated and not yet freed, in the order of the calls
  int64_t allocations = 0;  // of these, how many
  size_t high_water = 0;
  size_t pinned = 0, pinned_high_water = 0;  // bytes of the host's memory that are locked for it
};

// Streams, events and buffers may outlive their device object.
class Device {
 public:
  virtual ~Device() = default;
  virtual const std::string& name() const = 0;  // "simulated:0"
  virtual std::string_view kind() const = 0;  // "simulated"
  virtual int index() const = 0;  // 0; of a GPU, as the CUDA runtime counts them
  // Its place in the machine, "0000:65:00.0"; "" where it has none.
  virtual const std::string& pci_bus_id() const = 0;
  virtual std::unique_ptr<Stream> make_stream(std::string name) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  // Host memory that the device reads and writes by itself, aligned to a page. Slow; letting go of
  // it may wait for the device. Null when the system does not give it.
  virtual std::shared_ptr<Buffer> try_pin(size_t bytes) = 0;
  virtual DeviceUsage usage() const = 0;
  // For hand-outs: throws what failed until now (Note [Device errors]) without waiting.
  virtual void check() = 0;
  // Gives memory that it keeps for later allocations back to the system; waits for its streams.
  virtual void trim() = 0;
};

// What a batch on a device has beside its buffers.
struct DeviceBatch {
  Device* device = nullptr;
  std::unique_ptr<Event> ready;  // after it the bytes may be read
  std::string step;  // that it is of, for errors
};

// The devices of this process, in order; they live as long as it does. Thread-safe.
// Simulated ones (device/simulated/simulated.h) are there only when the environment variable
// STOKER_SIMULATED_DEVICES=<count> or a call of use_simulated_devices() asks for them, and then no
// others. Throws DeviceError when the variable is not a count.
std::vector<Device*> devices();
// Why there is no GPU among devices(), "" if there is one: what is missing, versions found and
// needed.
std::string missing_gpu();
// Throws DeviceError that says what is missing.
Device& device(int index);

}  // namespace stoker
