// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/simulated/simulated.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "device/simulated/core.h"
#include "device/simulated/launch.h"

namespace stoker {
namespace {

using Core = SimulatedDevice::Core;
using simulated::Fault;
using simulated::Lane;
using simulated::Signal;

class SimulatedEvent final : public Event {
 public:
  explicit SimulatedEvent(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  bool query() const override {
    MutexLock lock(core_->mutex);
    if (!signal_) return true;
    // The order is known from now on. The virtual clock stays, as polling follows real time.
    if (signal_->is_reached) core_->host_past.merge(signal_->past);
    return signal_->is_reached;
  }
  void synchronize() override { core_->wait_for(signal()); }
  void check() const override {
    MutexLock lock(core_->mutex);
    if (signal_ && signal_->is_reached) core_->throw_failure(signal_->failure);
  }
  void hold_back(ForeignStream stream) const override {
    MutexLock lock(core_->mutex);
    const std::shared_ptr<Lane> lane = core_->foreign(stream);
    if (signal_) core_->wait_behind(*lane, signal_);
  }

  bool is_of(const std::shared_ptr<Core>& core) const { return core_ == core; }
  std::shared_ptr<Signal> signal() const {
    MutexLock lock(core_->mutex);
    return signal_;
  }
  // Requires: the lane belongs to the same device.
  void record_on(Lane& lane) {
    MutexLock lock(core_->mutex);
    signal_ = core_->mark(lane);
  }

 private:
  const std::shared_ptr<Core> core_;
  std::shared_ptr<Signal> signal_ STOKER_GUARDED_BY(core_->mutex);
};

class SimulatedBuffer final : public DeviceBuffer {
 public:
  SimulatedBuffer(void* p, size_t bytes, std::shared_ptr<Core> core, std::shared_ptr<Lane> lane)
      : DeviceBuffer(static_cast<std::byte*>(p), bytes),
        core_(std::move(core)),
        lane_(std::move(lane)) {}
  ~SimulatedBuffer() override {
    try {
      core_->free_on(*lane_, data());
    } catch (const std::exception& e) {
      MutexLock lock(core_->mutex);
      core_->keep_failure(e.what());
    }
  }

  void return_behind(ForeignStream stream) noexcept override {
    MutexLock lock(core_->mutex);
    try {
      core_->wait_behind(*lane_, core_->mark(*core_->foreign(stream)));
    } catch (const std::exception& e) {
      core_->keep_failure(e.what());
    }
  }

 private:
  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Lane> lane_;
};

class PinnedBuffer final : public Buffer {
 public:
  PinnedBuffer(void* p, size_t bytes, std::shared_ptr<Core> core)
      : Buffer(static_cast<std::byte*>(p), bytes), core_(std::move(core)) {}
  ~PinnedBuffer() override {
    core_->tell(&Core::on_pinning);
    MutexLock lock(core_->mutex);
    core_->memory.unpin(data());
  }

 private:
  const std::shared_ptr<Core> core_;
};

class SimulatedStream final : public Stream {
 public:
  SimulatedStream(Device& device, std::shared_ptr<Core> core, std::string name)
      : device_(device), core_(std::move(core)), lane_(core_->make_lane(std::move(name))) {
    try {
      thread_ = std::thread([this] {
        name_this_thread("stoker-stream");
        core_->work(*lane_);
      });
    } catch (const std::system_error& e) {
      throw DeviceError(core_->name + ": no thread for stream '" + lane_->name + "': " + e.what());
    }
  }
  ~SimulatedStream() override {
    {
      MutexLock lock(core_->mutex);
      lane_->is_stopping = true;
      core_->changed.notify_all();
    }
    thread_.join();
    MutexLock lock(core_->mutex);
    core_->host_past.merge(lane_->past);
  }

  Device& device() const override { return device_; }
  const std::string& name() const override { return lane_->name; }

  void* allocate(size_t bytes) override {
    void* p = allocate_if_room(bytes);
    if (p) return p;
    MutexLock lock(core_->mutex);
    const DeviceUsage& u = core_->memory.usage();
    throw BudgetError(core_->name + ": no room for " + std::to_string(bytes) +
                      " bytes on stream '" + lane_->name + "': " + std::to_string(u.in_use) +
                      " of " + std::to_string(u.limit) + " bytes are in use, in " +
                      std::to_string(u.allocations) + " allocations");
  }
  void free(void* p) override {
    if (p) core_->free_on(*lane_, p);
  }
  std::shared_ptr<DeviceBuffer> try_acquire(size_t bytes) override {
    void* p = allocate_if_room(bytes);
    return p ? std::make_shared<SimulatedBuffer>(p, bytes, core_, lane_) : nullptr;
  }

  void copy(void* to, const void* from, size_t bytes, Copy direction,
            std::string_view name) override {
    if (bytes == 0) return;
    MutexLock lock(core_->mutex);
    static constexpr const char* kDirections[] = {"to the device", "to the host", "on the device"};
    const Actor a =
        core_->actor(*lane_, "copy '" + std::string(name) + "' of " + std::to_string(bytes) +
                                 " bytes " + kDirections[static_cast<int>(direction)]);
    const Fault fault = core_->take_fault(DeviceCall::kCopy, a.what);
    check_side(from, bytes, direction != Copy::kToDevice, false, a);
    check_side(to, bytes, direction != Copy::kToHost, true, a);
    const double speed = direction == Copy::kOnDevice ? core_->options.memory_bytes_per_ns
                                                      : core_->options.link_bytes_per_ns;
    enqueue(fault, name, a.what, static_cast<int64_t>(static_cast<double>(bytes) / speed),
            [=] { std::memmove(to, from, bytes); });
  }
  void call(std::function<void()> call, int64_t cost_ns, std::string_view name) override {
    MutexLock lock(core_->mutex);
    const Actor a = core_->actor(*lane_, "call '" + std::string(name) + "'");
    core_->take_time(*lane_, name, cost_ns);
    core_->push(*lane_, {.what = a.what, .run = std::move(call)});
  }

  void record(Event& event) override { ours(event).record_on(*lane_); }
  void wait(const Event& event) override {
    auto signal = ours(const_cast<Event&>(event)).signal();
    if (!signal) return;
    MutexLock lock(core_->mutex);
    core_->wait_behind(*lane_, std::move(signal));
  }
  void synchronize() override { core_->synchronize(*lane_); }

  int id() const { return lane_->id; }

 protected:
  void launch_erased(const BlockProgram& program, const Grid& grid,
                     std::string_view name) override {
    MutexLock lock(core_->mutex);
    const Actor a = core_->actor(*lane_, "launch '" + std::string(name) + "'");
    if (grid.blocks < 0 || grid.blocks > INT32_MAX || grid.threads < 0 ||
        grid.threads > kMaxThreads || grid.shared_bytes > kMaxShared)
      throw DeviceError(a.what + ": no device takes " + std::to_string(grid.blocks) +
                        " blocks of " + std::to_string(grid.threads) + " threads with " +
                        std::to_string(grid.shared_bytes) + " bytes of shared memory; at most " +
                        std::to_string(INT32_MAX) + ", " + std::to_string(kMaxThreads) + " and " +
                        std::to_string(kMaxShared));
    const uint64_t seed = core_->options.seed * 0x9E3779B97F4A7C15u +
                          core_->counts[static_cast<int>(DeviceCall::kLaunch)];
    enqueue(core_->take_fault(DeviceCall::kLaunch, a.what), name, a.what, grid.cost_ns,
            SimulatedLaunch(program, grid, seed));
  }

 private:
  // Null when there is no room.
  void* allocate_if_room(size_t bytes) {
    MutexLock lock(core_->mutex);
    const Actor a = core_->actor(*lane_, "allocation of " + std::to_string(bytes) + " bytes");
    if (!core_->memory.has_room(bytes)) return nullptr;
    const Fault fault = core_->take_fault(DeviceCall::kAllocate);
    if (fault.is_refused) return nullptr;
    if (fault.fails) throw DeviceError(a.what + " failed: injected fault");
    if (fault.virtual_ns > 0) core_->take_time(*lane_, "allocate", fault.virtual_ns);
    if (fault.real.count() > 0) core_->push(*lane_, {.what = a.what, .sleep = fault.real});
    return core_->memory.allocate(bytes, a);
  }
  void check_side(const void* p, size_t bytes, bool is_device, bool writes, const Actor& a)
      STOKER_REQUIRES(core_->mutex) {
    if (is_device) {
      core_->memory.use(p, bytes, writes, a);
    } else {
      core_->memory.expect_host(p, bytes, a);
      core_->pageable_copies += !core_->memory.is_pinned(p, bytes);
    }
  }
  void enqueue(const Fault& fault, std::string_view name, const std::string& what, int64_t ns,
               std::function<void()> run) STOKER_REQUIRES(core_->mutex) {
    if (fault.fails) run = [] { throw DeviceError("injected fault"); };
    core_->take_time(*lane_, name, ns + fault.virtual_ns);
    core_->push(*lane_,
                {.what = what, .run = std::move(run), .sleep = fault.real, .is_on_device = true});
  }
  SimulatedEvent& ours(Event& event) const {
    auto* e = dynamic_cast<SimulatedEvent*>(&event);
    if (!e || !e->is_of(core_))
      throw DeviceError(core_->name + ": stream '" + lane_->name +
                        "' got an event of another device");
    return *e;
  }

  Device& device_;
  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Lane> lane_;
  std::thread thread_;
};

}  // namespace

SimulatedDevice::SimulatedDevice(const SimulatedOptions& options, int index)
    : core_(std::make_shared<Core>(options, index)) {}

const std::string& SimulatedDevice::name() const { return core_->name; }

int SimulatedDevice::index() const { return core_->index; }
const std::string& SimulatedDevice::pci_bus_id() const { return core_->options.pci_bus_id; }

std::unique_ptr<Stream> SimulatedDevice::make_stream(std::string name) {
  return std::make_unique<SimulatedStream>(*this, core_, std::move(name));
}

std::unique_ptr<Event> SimulatedDevice::make_event() {
  return std::make_unique<SimulatedEvent>(core_);
}

std::shared_ptr<Buffer> SimulatedDevice::try_pin(size_t bytes) {
  core_->tell(&Core::on_pinning);
  MutexLock lock(core_->mutex);
  const Fault fault = core_->take_fault(DeviceCall::kPin);
  if (fault.is_refused) return nullptr;
  if (fault.fails)
    throw DeviceError(core_->name + ": locking " + std::to_string(bytes) +
                      " bytes of host memory failed: injected fault");
  void* p = core_->memory.try_pin(bytes, core_->options.pinned_limit);
  return p ? std::make_shared<PinnedBuffer>(p, bytes, core_) : nullptr;
}

int64_t SimulatedDevice::pageable_copies() const {
  MutexLock lock(core_->mutex);
  return core_->pageable_copies;
}

ForeignStream SimulatedDevice::foreign(const Stream& stream) {
  const auto* s = dynamic_cast<const SimulatedStream*>(&stream);
  if (!s)
    throw DeviceError("stream '" + stream.name() + "' of " + stream.device().name() +
                      " is of no simulated device");
  return static_cast<ForeignStream>(Core::kFirstForeign + static_cast<uintptr_t>(s->id()));
}

DeviceUsage SimulatedDevice::usage() const {
  MutexLock lock(core_->mutex);
  return core_->memory.usage();
}

void SimulatedDevice::check() {
  MutexLock lock(core_->mutex);
  core_->throw_untold();
}

void SimulatedDevice::fail(DeviceCall what, int64_t nth) {
  MutexLock lock(core_->mutex);
  core_->faults.push_back(
      {.work = what, .at = core_->counts[static_cast<int>(what)] + nth, .fails = true});
}

void SimulatedDevice::refuse(DeviceCall what, int64_t nth) {
  MutexLock lock(core_->mutex);
  core_->faults.push_back(
      {.work = what, .at = core_->counts[static_cast<int>(what)] + nth, .is_refused = true});
}

void SimulatedDevice::delay(DeviceCall what, int64_t nth, int64_t virtual_ns,
                            std::chrono::microseconds real) {
  MutexLock lock(core_->mutex);
  core_->faults.push_back({.work = what,
                           .at = core_->counts[static_cast<int>(what)] + nth,
                           .virtual_ns = virtual_ns,
                           .real = real});
}

void SimulatedDevice::delay_all(uint64_t seed, std::chrono::microseconds most) {
  MutexLock lock(core_->mutex);
  core_->delays = seed * 0xD1342543DE82EF95u;
  core_->most_delay = most;
}

int SimulatedDevice::forget_faults() {
  MutexLock lock(core_->mutex);
  const auto left = static_cast<int>(core_->faults.size());
  core_->faults.clear();
  core_->failures.clear();
  core_->most_delay = {};
  return left;
}

void SimulatedDevice::on_pinning(std::function<void()> callback) {
  MutexLock lock(core_->mutex);
  core_->on_pinning = std::move(callback);
}

void SimulatedDevice::on_synchronize(std::function<void()> callback) {
  MutexLock lock(core_->mutex);
  core_->on_synchronize = std::move(callback);
}

void SimulatedDevice::add_host_work(std::string_view name, int64_t ns) {
  MutexLock lock(core_->mutex);
  core_->host_ns += ns;
  core_->note(name, "host", core_->host_ns - ns, core_->host_ns);
}

int64_t SimulatedDevice::host_now() const {
  MutexLock lock(core_->mutex);
  return core_->host_ns;
}

int64_t SimulatedDevice::virtual_now() const {
  MutexLock lock(core_->mutex);
  return core_->latest_ns;
}

std::vector<TimelineEntry> SimulatedDevice::timeline() const {
  MutexLock lock(core_->mutex);
  return {core_->entries.begin(), core_->entries.end()};
}

}  // namespace stoker
