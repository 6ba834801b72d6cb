// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of one simulated device: who may access what, and when. One thread at a time, except
// for scribble().
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "device/device.h"

namespace stoker {

// Piece of work number `step` of a stream. A later stream may take over the number of one that is
// gone, and go on with its steps (Core::make_lane).
struct Moment {
  int stream = 0;
  int64_t step = 0;
};

// What has happened before a point: how far each stream had come (a vector clock).
class Past {
 public:
  bool has(const Moment& m) const {
    return m.stream < static_cast<int>(steps_.size()) && steps_[m.stream] >= m.step;
  }
  void add(const Moment& m);
  void merge(const Past& other);

 private:
  std::vector<int64_t> steps_;  // by stream
};

// A piece of work that accesses memory. `past` includes `at`; `what` is its name in errors.
struct Actor {
  Moment at;
  const Past& past;
  std::string what;
};

// Every refusal throws DeviceError.
class SimulatedMemory {
 public:
  explicit SimulatedMemory(size_t limit) { usage_.limit = limit; }
  ~SimulatedMemory();
  SimulatedMemory(const SimulatedMemory&) = delete;
  SimulatedMemory& operator=(const SimulatedMemory&) = delete;

  bool has_room(size_t bytes) const { return bytes <= usage_.limit - usage_.in_use; }
  // Requires: has_room(bytes). Throws BudgetError when the system has no memory.
  void* allocate(size_t bytes, const Actor& actor);
  // Checks that the actor may now read or write the device memory [p, p + bytes). Notes the use.
  void use(const void* p, size_t bytes, bool writes, const Actor& actor);
  // Checks that none of these bytes is device memory.
  void expect_host(const void* p, size_t bytes, const Actor& actor) const;
  bool is_pinned(const void* p, size_t bytes) const;
  // Pins host memory. Null when `limit` does not allow it or the system has none.
  void* try_pin(size_t bytes, size_t limit);
  void unpin(void* p);  // Requires: p came from try_pin()
  // Nobody may use the memory from now on. Returns its size, for scribble().
  size_t free(void* p, const Actor& actor);

  // Fills and poisons freed memory. Any thread may call it after the stream has come to the free.
  static void scribble(void* p, size_t bytes);
  // Called after scribble(): the memory may go back to the system.
  void retire(void* p);

  const DeviceUsage& usage() const { return usage_; }

 private:
  struct Use {
    Moment at;
    size_t begin, end;  // offsets in the allocation
    bool writes;
    std::string what;
  };
  struct Allocation {
    size_t bytes = 0;
    Moment made;
    std::string maker;
    std::deque<Use> uses;  // the latest ones
    bool is_freed = false;
    std::string freer;
  };
  using Allocations = std::map<uintptr_t, Allocation>;

  Allocations::iterator find(const void* p);
  void expect_behind(const Use& use, const Actor& actor) const;
  void expect_live(const Allocation& a, const Actor& actor) const;

  Allocations allocations_;
  std::map<uintptr_t, size_t> pinned_;  // bytes, by address
  // Freed memory, kept for a while so that stale pointers find what scribble() wrote.
  std::deque<uintptr_t> retired_;
  size_t retired_bytes_ = 0;
  DeviceUsage usage_;
};

}  // namespace stoker
