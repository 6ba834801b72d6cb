// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A device made of host threads, for tests: it runs the kernels' own source, finds misuse, and
// keeps a virtual clock. Thread-safe.
//
// Note [Virtual clock]
// Every piece of work has a virtual duration: a copy its bytes by the bandwidth, a launch or call
// its cost. It starts at the latest of: the end of the work before it on its stream, the events
// that its stream waited for, and the host's clock when it was enqueued. The host's clock moves by
// add_host_work() and by waiting. All of it is computed when work is enqueued, so it says how
// stages overlap, is the same in every run, and has nothing to do with real time.
//
// Note [What the simulated device finds]
// Copies that reach outside an allocation, name freed memory or have their direction wrong; copies
// and frees that no event (and no wait of the host) orders behind the allocation, or behind another
// stream's copy of the same bytes; double frees. Memory is filled with kFresh when allocated and
// with kFreed when freed, and then poisoned, so AddressSanitizer sees what block programs touch.
// Streams are threads, so ThreadSanitizer sees unordered work that does run at once; injected
// delays bring it about. Threads, blocks and phases of a launch run in an order that the seed
// shuffles.
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
  size_t pinned_limit = SIZE_MAX;  // bytes of host memory that can be locked at once
  double link_bytes_per_ns = 25;  // between host and device, each way
  double memory_bytes_per_ns = 1500;  // on the device
  uint64_t seed = 1;
  size_t timeline_limit = 1 << 16;  // entries; older ones are forgotten
  std::string pci_bus_id;
};

// What faults are counted by. kAllocate: of the device's memory; kPin: of the host's.
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
  void trim() override { ++trims_; }  // keeps nothing

  // How others name this stream of a simulated device, for as long as it stands: tests play the
  // consumer on it. Throws DeviceError when it is of another kind.
  static ForeignStream foreign(const Stream& stream);

  // The nth (from 1) such work enqueued from now on fails: memory at once with DeviceError, the
  // others on their stream.
  void fail(DeviceCall what, int64_t nth);
  // The nth such work from now on is refused when it is asked for: there is no room for memory, the
  // others throw DeviceError.
  void refuse(DeviceCall what, int64_t nth);
  // The nth such work from now on takes longer: on the virtual clock, and for real where that is
  // asked for.
  void delay(DeviceCall what, int64_t nth, int64_t virtual_ns, std::chrono::microseconds real = {});
  // From now on each stream stands still for up to so long before whatever it does, as the seed
  // says: streams overtake one another and the host. For real, and not on the virtual clock.
  void delay_all(uint64_t seed, std::chrono::microseconds most);
  // Forgets the faults and delays that are still to come, and failures that nobody was told. How
  // many faults there were.
  int forget_faults();
  // From now on who is about to lock host memory, or to unlock it, calls this first: a GPU's driver
  // may wait there for what was enqueued. Empty: nothing is called.
  void on_pinning(std::function<void()> callback);
  // The same for who is about to wait for a stream.
  void on_synchronize(std::function<void()> callback);

  // The host is busy for so long.
  void add_host_work(std::string_view name, int64_t ns);
  int64_t host_now() const;  // the host's clock
  int64_t virtual_now() const;  // the end of all that was enqueued
  std::vector<TimelineEntry> timeline() const;
  // Copies so far from or to host memory that is not pinned: a GPU's driver may let the caller wait
  // for each.
  int64_t pageable_copies() const;
  int trims() const { return trims_; }  // so far

  struct Core;

 private:
  std::shared_ptr<Core> core_;
  std::atomic<int> trims_{0};
};

// Makes devices() so many simulated ones. Those of before live on, for those who still hold them.
void use_simulated_devices(int count, const SimulatedOptions& options = {});

}  // namespace stoker
