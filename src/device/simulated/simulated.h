// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A device made of host threads, for tests. It runs the kernels' own source, finds misuse and keeps
// a virtual clock. Thread-safe.
//
// Note [Virtual clock]
// Every piece of work has a virtual duration: a copy takes its bytes divided by the bandwidth, a
// launch or call takes its cost. It starts as soon as the work before it on its stream has ended,
// the events that its stream waited for are reached, and the host's clock has come to the moment
// when it was enqueued. add_host_work() and waiting move the host's clock. All this is computed
// when work is enqueued, so it shows how stages overlap and is the same in every run.
//
// Note [What the simulated device finds]
// Copies that reach outside an allocation, use freed memory or have the wrong direction. Copies and
// frees that no event or wait of the host orders after the allocation, or after another stream's
// copy of the same bytes. Double frees. Allocated memory is filled with kFresh; freed memory is
// filled with kFreed and poisoned, so AddressSanitizer sees what block programs access. Streams are
// threads, so ThreadSanitizer sees unordered work that runs at the same time; injected delays
// provoke that. The seed shuffles the order of threads, blocks and phases of a launch.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace stoker {

struct SimulatedOptions {
  size_t memory_limit = size_t{1} << 30;  // bytes
  size_t pinned_limit = SIZE_MAX;  // bytes of host memory that can be pinned at once
  double link_bytes_per_ns = 25;  // between host and device, in each direction
  double memory_bytes_per_ns = 1500;  // on the device
  uint64_t seed = 1;
  size_t timeline_limit = 1 << 16;  // entries; older ones are dropped
  std::string pci_bus_id;
};

// The calls by which faults are counted. kAllocate is of the device's memory, kPin of the host's.
enum class DeviceCall : uint8_t { kAllocate, kPin, kCopy, kLaunch };
inline constexpr int kDeviceCalls = 4;

struct TimelineEntry {
  std::string name, stream;  // stream "host" for add_host_work()
  int64_t start_ns, end_ns;
};

class SimulatedDevice final : public Device {
 public:
  static constexpr std::byte kFresh{0xC5}, kFreed{0xDE};

  explicit SimulatedDevice(const SimulatedOptions& options = {}, int index = 0);

  const std::string& name() const override;
  std::string_view kind() const override { return "simulated"; }
  int index() const override;
  const std::string& pci_bus_id() const override;
  std::unique_ptr<Stream> make_stream(std::string name) override;
  std::unique_ptr<Event> make_event() override;
  std::shared_ptr<Buffer> try_pin(size_t bytes) override;
  DeviceUsage usage() const override;
  void check() override;
  void trim() override { ++trims_; }  // keeps nothing to trim

  // How foreign code, as which a test may act, names this stream while it exists. Throws
  // DeviceError when the stream is of another kind.
  static ForeignStream foreign(const Stream& stream);

  // The nth such work enqueued from now on fails (n counts from 1). An allocation throws
  // DeviceError at once, other work fails on its stream.
  void fail(DeviceCall what, int64_t nth);
  // The nth such work from now on is refused when it is asked for: there is no room for memory,
  // other work throws DeviceError.
  void refuse(DeviceCall what, int64_t nth);
  // The nth such work from now on takes longer, on the virtual clock and really.
  void delay(DeviceCall what, int64_t nth, int64_t virtual_ns, std::chrono::microseconds real = {});
  // From now on each stream pauses for up to `most` before any work, as the seed decides, so that
  // streams overtake each other and the host. The virtual clock does not see it.
  void delay_all(uint64_t seed, std::chrono::microseconds most);
  // Forgets coming faults and delays, and unreported failures. Returns how many faults there were.
  int forget_faults();
  // A thread that is about to pin or unpin host memory, or to wait for a stream, calls the callback
  // first, because a GPU's driver may wait there for enqueued work. An empty function ends this.
  void on_pinning(std::function<void()> callback);
  void on_synchronize(std::function<void()> callback);

  void add_host_work(std::string_view name, int64_t ns);
  int64_t host_now() const;  // the host's clock
  int64_t virtual_now() const;  // the end of all work enqueued so far
  std::vector<TimelineEntry> timeline() const;
  // How many copies used host memory that is not pinned, for which a GPU's driver may wait.
  int64_t pageable_copies() const;
  int trims() const { return trims_; }  // so far

  struct Core;

 private:
  std::shared_ptr<Core> core_;
  std::atomic<int> trims_{0};
};

// Makes devices() return `count` simulated devices. Earlier ones stay for those who hold them.
void use_simulated_devices(int count, const SimulatedOptions& options = {});

}  // namespace stoker
