// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/simulated/core.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"

namespace stoker {

SimulatedDevice::Core::Core(const SimulatedOptions& options, int index)
    : options(options),
      index(index),
      name("simulated:" + std::to_string(index)),
      memory(options.memory_limit) {}

Moment SimulatedDevice::Core::step(Lane& lane) {
  lane.past.merge(host_past);
  const Moment m{lane.stream, ++places[lane.stream].steps};
  lane.past.add(m);
  return m;
}

Actor SimulatedDevice::Core::actor(Lane& lane, const std::string& doing) {
  const Moment m = step(lane);
  return {m, lane.past, name + ": " + doing + " on stream '" + lane.name + "'"};
}

void SimulatedDevice::Core::note(std::string_view what, const std::string& where, int64_t start,
                                 int64_t end) {
  latest_ns = std::max(latest_ns, end);
  entries.push_back({std::string(what), where, start, end});
  if (entries.size() > options.timeline_limit) entries.pop_front();
}

void SimulatedDevice::Core::take_time(Lane& lane, std::string_view what, int64_t ns) {
  const int64_t start = std::max(lane.end_ns, host_ns);
  lane.end_ns = start + ns;
  note(what, lane.name, start, lane.end_ns);
}

void SimulatedDevice::Core::push(Lane& lane, Op op) {
  if (most_delay.count() > 0) {  // every second one on average; one step of splitmix64
    uint64_t z = delays += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    if (z >> 63) op.sleep += most_delay * static_cast<int64_t>(z >> 48 & 1023) / 1024;
  }
  lane.queue.push_back(std::move(op));
  changed.notify_all();
}

std::shared_ptr<simulated::Signal> SimulatedDevice::Core::mark(Lane& lane) {
  step(lane);
  auto signal = std::make_shared<Signal>();
  signal->at_ns = std::max(lane.end_ns, host_ns);
  signal->past = lane.past;
  signal->lane = lane.shared_from_this();
  push(lane, {.what = "record", .reach = signal});
  return signal;
}

void SimulatedDevice::Core::wait_behind(Lane& lane, std::shared_ptr<Signal> signal) {
  lane.past.merge(signal->past);
  lane.end_ns = std::max(lane.end_ns, signal->at_ns);
  if (!lane.is_over) return push(lane, {.what = "wait", .wait_for = std::move(signal)});
  lane.awaited.push_back(std::move(signal));
}

std::shared_ptr<simulated::Lane> SimulatedDevice::Core::foreign(ForeignStream stream) const {
  const auto number = static_cast<uintptr_t>(stream);
  std::shared_ptr<Lane> lane;
  if (number >= kFirstForeign && number - kFirstForeign < lanes.size())
    lane = lanes[number - kFirstForeign].lock();
  if (lane && !lane->is_over) return lane;
  throw DeviceError(name + ": a consumer's stream is named " + std::to_string(number) +
                    ", and there is none of that name" + (lane ? " any more" : ""));
}

std::shared_ptr<simulated::Lane> SimulatedDevice::Core::make_lane(std::string name) {
  auto lane = std::make_shared<Lane>();
  lane->name = std::move(name);
  MutexLock lock(mutex);
  lane->id = static_cast<int>(lanes.size());
  lanes.push_back(lane);
  // Whatever is still to come comes after all that a lane did which is gone, as the host has seen
  // that (~SimulatedStream). So its place is free, and clocks never need more entries than there
  // are lanes at a time.
  auto place = std::ranges::find_if(places, [](const Place& p) { return p.lane.expired(); });
  if (place == places.end()) place = places.emplace(place);
  place->lane = lane;
  lane->stream = static_cast<int>(place - places.begin());
  return lane;
}

void SimulatedDevice::Core::host_saw(const Signal& signal) {
  host_ns = std::max(host_ns, signal.at_ns);
  host_past.merge(signal.past);
}

simulated::Fault SimulatedDevice::Core::take_fault(DeviceCall work) {
  Fault sum{work, ++counts[static_cast<int>(work)]};
  std::erase_if(faults, [&](const Fault& f) {
    if (f.work != work || f.at != sum.at) return false;
    sum.fails |= f.fails;
    sum.is_refused |= f.is_refused;
    sum.virtual_ns += f.virtual_ns;
    sum.real += f.real;
    return true;
  });
  return sum;
}

simulated::Fault SimulatedDevice::Core::take_fault(DeviceCall work, const std::string& what) {
  const Fault fault = take_fault(work);
  if (fault.is_refused) throw DeviceError(what + " was refused: injected fault");
  return fault;
}

void SimulatedDevice::Core::keep_failure(Lane& lane, std::string text) {
  if (lane.failure) {
    ++lane.failure->more;
    return;
  }
  lane.failure = keep_failure(std::move(text));
}

std::shared_ptr<simulated::Failure> SimulatedDevice::Core::keep_failure(std::string text) {
  std::erase_if(failures, [](const auto& f) { return f->is_told; });
  return failures.emplace_back(std::make_shared<Failure>(std::move(text)));
}

void SimulatedDevice::Core::throw_failure(const std::shared_ptr<Failure>& failure) const {
  if (!failure) return;
  failure->is_told = true;
  const std::string more =
      failure->more ? " (and " + std::to_string(failure->more) + " more after it)" : "";
  throw DeviceError(failure->text + more);
}

void SimulatedDevice::Core::throw_untold() {
  std::erase_if(failures, [](const auto& f) { return f->is_told; });
  if (!failures.empty()) throw_failure(failures.front());
}

std::string SimulatedDevice::Core::run(const Op& op) {
  if (op.sleep.count() > 0) std::this_thread::sleep_for(op.sleep);
  std::string why;
  try {
    if (op.run) op.run();
    return {};
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
    why = "an unknown exception";
  }
  return op.what + " failed: " + why;
}

void SimulatedDevice::Core::work(Lane& lane) {
  MutexLock lock(mutex);
  for (;;) {
    changed.wait(mutex, [&] { return !lane.queue.empty() || lane.is_stopping; });
    if (lane.queue.empty()) break;
    Op op = std::move(lane.queue.front());
    lane.queue.pop_front();
    if (op.wait_for) changed.wait(mutex, [&] { return op.wait_for->is_reached; });
    if (op.is_on_device && lane.failure) op.run = nullptr;
    lock.unlock();
    const std::string failure = run(op);
    op.run = nullptr;  // what it captured is destroyed before anyone hears that it is done
    lock.lock();
    if (!failure.empty()) keep_failure(lane, failure);
    if (op.wait_for && !lane.failure) lane.failure = op.wait_for->failure;
    if (!op.reach) continue;
    if (lane.failure) lane.recorded = lane.failure;
    op.reach->failure = std::exchange(lane.failure, nullptr);
    op.reach->is_reached = true;
    op.reach->lane.reset();
    changed.notify_all();
  }
  lane.is_over = true;
}

void SimulatedDevice::Core::wait_for(const std::shared_ptr<Signal>& signal) {
  if (!signal) return;
  MutexLock lock(mutex);
  changed.wait(mutex, [&] { return signal->is_reached; });
  host_saw(*signal);
  throw_failure(signal->failure);
}

void SimulatedDevice::Core::synchronize(Lane& lane) {
  tell(&Core::on_synchronize);
  std::shared_ptr<Signal> signal;
  {
    MutexLock lock(mutex);
    signal = mark(lane);
  }
  wait_for(signal);
  MutexLock lock(mutex);
  if (lane.recorded && !lane.recorded->is_told) throw_failure(lane.recorded);
}

void SimulatedDevice::Core::scribble(void* p, size_t bytes) {
  SimulatedMemory::scribble(p, bytes);
  MutexLock lock(mutex);
  memory.retire(p);
}

void SimulatedDevice::Core::tell(std::function<void()> Core::* hook) const {
  std::function<void()> callback;
  {
    MutexLock lock(mutex);
    callback = this->*hook;
  }
  if (callback) callback();
}

void SimulatedDevice::Core::free_on(Lane& lane, void* p) {
  MutexLock lock(mutex);
  const Actor a = actor(lane, "free");
  const size_t bytes = memory.free(p, a);
  const Op op{.what = a.what, .run = [this, p, bytes] { scribble(p, bytes); }};
  if (!lane.is_over) return push(lane, op);
  std::erase_if(lane.awaited, [](const auto& signal) { return signal->is_reached; });
  if (!lane.awaited.empty()) {  // the lane's thread has ended, so an awaited lane frees the memory
    Lane& other = *lane.awaited.back()->lane;
    for (const auto& signal : lane.awaited) push(other, {.what = "wait", .wait_for = signal});
    return push(other, op);
  }
  lock.unlock();
  scribble(p, bytes);
}

}  // namespace stoker
