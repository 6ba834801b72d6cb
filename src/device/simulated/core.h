// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the streams, events and buffers of one simulated device share. Thread-safe where no mutex is
// asked for.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/simulated/memory.h"
#include "device/simulated/simulated.h"

namespace stoker {
namespace simulated {

struct Lane;

// What failed. Guarded by SimulatedDevice::Core::mutex.
struct Failure {
  std::string text;
  int more = 0;  // after it on the same stream, or on those that waited for it
  bool is_told = false;
};

// What an event stands for. Guarded by SimulatedDevice::Core::mutex.
struct Signal {
  bool is_reached = false;
  int64_t at_ns = 0;
  Past past;
  std::shared_ptr<Failure> failure;  // of what it is behind; set when it is reached
  std::shared_ptr<Lane> lane;  // that reaches it; null once it is reached
};

// What a stream's thread does, in this order: wait, sleep, run, reach.
struct Op {
  std::string what = {};
  std::function<void()> run = {};
  std::shared_ptr<Signal> wait_for = {}, reach = {};
  std::chrono::microseconds sleep = {};
  bool is_on_device = false;  // a copy or launch: not done behind a failure
};

// A stream without its thread; buffers keep it. Guarded by SimulatedDevice::Core::mutex.
struct Lane : std::enable_shared_from_this<Lane> {
  std::string name;
  int id = 0;
  int64_t steps = 0, end_ns = 0;
  Past past;
  std::deque<Op> queue;
  // The first one here, or of what was waited for, that no event knows of; the last that one does.
  std::shared_ptr<Failure> failure, recorded;
  bool is_stopping = false;
  bool is_over = false;  // the thread takes nothing any more
  std::vector<std::shared_ptr<Signal>> awaited;  // since it is over: what its frees are behind
};

struct Fault {
  DeviceCall work;
  int64_t at;
  bool fails = false, is_refused = false;
  int64_t virtual_ns = 0;
  std::chrono::microseconds real{};
};

}  // namespace simulated

struct SimulatedDevice::Core {
  using Signal = simulated::Signal;
  using Op = simulated::Op;
  using Lane = simulated::Lane;
  using Failure = simulated::Failure;
  using Fault = simulated::Fault;

  // Behind the numbers that mean something to CUDA.
  static constexpr uintptr_t kFirstForeign = 16;

  Core(const SimulatedOptions& options, int index);

  const SimulatedOptions options;
  const int index;
  const std::string name;
  mutable std::mutex mutex;  // guards all below, and lanes, events and signals
  std::condition_variable changed;  // a queue, a signal, a lane that stops
  SimulatedMemory memory;
  std::vector<std::weak_ptr<Lane>> lanes;  // by id
  int64_t host_ns = 0, latest_ns = 0;
  Past host_past;
  std::deque<TimelineEntry> entries;
  std::vector<std::shared_ptr<Failure>> failures;  // that nobody was told, and others
  int64_t counts[kDeviceCalls] = {};  // by DeviceCall
  int64_t pageable_copies = 0;
  std::vector<Fault> faults;
  uint64_t delays = 0;  // where their draws are
  std::chrono::microseconds most_delay{};
  std::function<void()> on_pinning, on_synchronize;

  // Requires, for these: mutex is held.
  // The next piece of work of a lane, as errors and orders know it. Valid until the next one.
  Actor actor(Lane& lane, const std::string& doing);
  // Takes so long from the lane's virtual time.
  void take_time(Lane& lane, std::string_view what, int64_t ns);
  void note(std::string_view what, const std::string& where, int64_t start, int64_t end);
  void push(Lane& lane, Op op);
  std::shared_ptr<Signal> mark(Lane& lane);
  // What is enqueued on the lane from now on, frees too, comes after the signal.
  void wait_behind(Lane& lane, std::shared_ptr<Signal> signal);
  // The lane of a stream that stands; throws DeviceError when there is none.
  std::shared_ptr<Lane> foreign(ForeignStream stream) const;
  void host_saw(const Signal& signal);
  // What is to go wrong with the work that is being enqueued.
  Fault take_fault(DeviceCall work);
  // That of a copy or launch; throws DeviceError where it is refused.
  Fault take_fault(DeviceCall work, const std::string& what);
  void keep_failure(Lane& lane, std::string text);
  // The same of no stream's work: only who asks for what is untold hears of it.
  std::shared_ptr<Failure> keep_failure(std::string text);
  // Nothing when it is null.
  static void throw_failure(const std::shared_ptr<Failure>& failure);
  void throw_untold();

  // Requires, for these: mutex is not held.
  std::shared_ptr<Lane> make_lane(std::string name);
  // The thread of a lane: returns when it is stopping and its queue is empty.
  void work(Lane& lane);
  std::string run(const Op& op);  // what failed, if anything
  // The host waits, then hears what failed. Null does nothing.
  void wait_for(const std::shared_ptr<Signal>& signal);
  void synchronize(Lane& lane);
  void free_on(Lane& lane, void* p);
  void scribble(void* p, size_t bytes);
  void tell(const std::function<void()>& hook) const;

 private:
  Moment step(Lane& lane);
};

}  // namespace stoker
