// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What streams, events and buffers of a device share. Thread-safe unless it requires a mutex.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "device/simulated/memory.h"
#include "device/simulated/simulated.h"

namespace stoker {
namespace simulated {

struct Lane;

// Work that failed. Core::mutex guards this and the two below it.
struct Failure {
  std::string text;
  int more = 0;  // later failures on the same stream, or on those that waited for it
  bool is_told = false;
};

// What an event records.
struct Signal {
  bool is_reached = false;
  int64_t at_ns = 0;
  Past past;
  std::shared_ptr<Failure> failure;  // of the work before it; set when it is reached
  std::shared_ptr<Lane> lane;  // the lane that reaches it; null once it is reached
};

// One thing that a stream's thread does. It waits, sleeps, runs and reaches, in this order.
struct Op {
  std::string what = {};
  std::function<void()> run = {};
  std::shared_ptr<Signal> wait_for = {}, reach = {};
  std::chrono::microseconds sleep = {};
  bool is_on_device = false;  // a copy or launch, which is left out after a failure
};

// A stream without its thread. Buffers keep it alive.
struct Lane : std::enable_shared_from_this<Lane> {
  std::string name;
  int id = 0;  // unlike those of all other lanes
  int stream = 0;  // unlike those of all other lanes that are there
  int64_t end_ns = 0;
  Past past;
  std::deque<Op> queue;
  // `failure`: the first one, here or in what this lane waited for, that no event carries yet.
  // `recorded`: the last one that an event carries.
  std::shared_ptr<Failure> failure, recorded;
  bool is_stopping = false;
  bool is_over = false;  // the thread has ended
  std::vector<std::shared_ptr<Signal>> awaited;  // after is_over: frees here come after these
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

  // CUDA gives a meaning to the numbers below this.
  static constexpr uintptr_t kFirstForeign = 16;

  Core(const SimulatedOptions& options, int index);

  const SimulatedOptions options;
  const int index;
  const std::string name;
  // Guards lanes, signals and failures as well. The work of streams and the hooks below use the
  // device, so they are not called under it.
  mutable Mutex mutex;
  ConditionVariable changed;  // a queue, a signal, or a lane that stops
  SimulatedMemory memory STOKER_GUARDED_BY(mutex);
  std::vector<std::weak_ptr<Lane>> lanes STOKER_GUARDED_BY(mutex);  // by id
  struct Place {
    std::weak_ptr<Lane> lane;
    int64_t steps = 0;  // of this lane and of those that were here before
  };
  std::vector<Place> places STOKER_GUARDED_BY(mutex);  // by Moment::stream
  int64_t host_ns STOKER_GUARDED_BY(mutex) = 0;
  int64_t latest_ns STOKER_GUARDED_BY(mutex) = 0;
  Past host_past STOKER_GUARDED_BY(mutex);
  std::deque<TimelineEntry> entries STOKER_GUARDED_BY(mutex);
  // Those that were not reported yet, and some that were.
  std::vector<std::shared_ptr<Failure>> failures STOKER_GUARDED_BY(mutex);
  int64_t counts[kDeviceCalls] STOKER_GUARDED_BY(mutex) = {};  // by DeviceCall
  int64_t pageable_copies STOKER_GUARDED_BY(mutex) = 0;
  std::vector<Fault> faults STOKER_GUARDED_BY(mutex);
  uint64_t delays STOKER_GUARDED_BY(mutex) = 0;  // state of their random numbers
  std::chrono::microseconds most_delay STOKER_GUARDED_BY(mutex){};
  std::function<void()> on_pinning STOKER_GUARDED_BY(mutex);
  std::function<void()> on_synchronize STOKER_GUARDED_BY(mutex);

  // Begins the lane's next piece of work, in the form that errors and checks of the order use.
  // Valid until the next one begins.
  Actor actor(Lane& lane, const std::string& doing) STOKER_REQUIRES(mutex);
  void take_time(Lane& lane, std::string_view what, int64_t ns) STOKER_REQUIRES(mutex);
  void note(std::string_view what, const std::string& where, int64_t start, int64_t end)
      STOKER_REQUIRES(mutex);
  void push(Lane& lane, Op op) STOKER_REQUIRES(mutex);
  std::shared_ptr<Signal> mark(Lane& lane) STOKER_REQUIRES(mutex);
  // Everything that is enqueued on the lane from now on, frees as well, comes after the signal.
  void wait_behind(Lane& lane, std::shared_ptr<Signal> signal) STOKER_REQUIRES(mutex);
  // The lane of a stream that exists. Throws DeviceError when there is none.
  std::shared_ptr<Lane> foreign(ForeignStream stream) const STOKER_REQUIRES(mutex);
  void host_saw(const Signal& signal) STOKER_REQUIRES(mutex);
  // The faults that will hit the work that is being enqueued.
  Fault take_fault(DeviceCall work) STOKER_REQUIRES(mutex);
  // Throws DeviceError where the copy or launch is refused.
  Fault take_fault(DeviceCall work, const std::string& what) STOKER_REQUIRES(mutex);
  void keep_failure(Lane& lane, std::string text) STOKER_REQUIRES(mutex);
  // Keeps that of work of no stream. Only throw_untold() reports it.
  std::shared_ptr<Failure> keep_failure(std::string text) STOKER_REQUIRES(mutex);
  // Does nothing for null.
  void throw_failure(const std::shared_ptr<Failure>& failure) const STOKER_REQUIRES(mutex);
  void throw_untold() STOKER_REQUIRES(mutex);

  std::shared_ptr<Lane> make_lane(std::string name) STOKER_EXCLUDES(mutex);
  // Runs the thread of a lane. Returns when the lane is stopping and its queue is empty.
  void work(Lane& lane) STOKER_EXCLUDES(mutex);
  std::string run(const Op& op) STOKER_EXCLUDES(mutex);  // returns what failed, or ""
  // Waits on the host, then throws what failed. Does nothing for null.
  void wait_for(const std::shared_ptr<Signal>& signal) STOKER_EXCLUDES(mutex);
  void synchronize(Lane& lane) STOKER_EXCLUDES(mutex);
  void free_on(Lane& lane, void* p) STOKER_EXCLUDES(mutex);
  void scribble(void* p, size_t bytes) STOKER_EXCLUDES(mutex);
  void tell(std::function<void()> Core::* hook) const STOKER_EXCLUDES(mutex);

 private:
  Moment step(Lane& lane) STOKER_REQUIRES(mutex);
};

}  // namespace stoker
