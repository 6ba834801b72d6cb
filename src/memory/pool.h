// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Host memory under a budget. Thread-safe.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "memory/allocator.h"
#include "memory/buffer.h"

namespace stoker {

// Thrown where there is no memory now: what needs it is done later.
struct Starved {
  std::string why;  // "": the pool gives none
};

// What granted bytes are for, so that an error can say who holds what.
enum class Use : uint8_t {
  kOutput,  // of steps that are being made or wait to be handed out
  kHeld,    // outputs that the user has
  kFed,     // copies of what was fed, until its step was received
};
inline constexpr int kUses = 3;

struct Usage {
  size_t limit = 0;
  std::array<size_t, kUses> bytes{};     // granted, by use
  std::array<int64_t, kUses> buffers{};  // of these, how many buffers
  size_t in_use = 0;                     // the sum of bytes
  size_t cached = 0;                     // free allocations that are kept for the next buffers
  size_t high_water = 0;                 // the most that was in use at once
  size_t high_water_held = 0;  // the most that was taken from the system: in use and cached

  size_t of(Use use) const { return bytes[static_cast<int>(use)]; }
};

// Note [Size classes]
// A buffer takes an allocation of 256 bytes or of the next of four sizes per power of two, at most
// a quarter too large, so that ragged outputs find the allocations of earlier ones. Budget and
// usage count allocations, less 64 bytes behind each that may be read. Allocations are given back
// to the system, longest unused first, before those in use and those cached exceed the limit or 5/4
// of the most that was in use since trim(): so nothing grows over epochs, whatever the sizes.
class HostPool {
 public:
  explicit HostPool(size_t limit = SIZE_MAX,  // bytes
                    std::shared_ptr<HostAllocator> allocator = system_allocator());
  ~HostPool();  // buffers may live on; the callback ends as with on_release(nullptr)
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  // Aligned to 64 bytes (from 64 KiB on to a page), with 64 readable bytes behind. Null when the
  // limit does not allow it now; never waits. Throws BudgetError when the limit allows it but the
  // system has no memory.
  std::shared_ptr<Buffer> try_acquire(size_t bytes, Use use);
  // Counts bytes of memory that the caller takes elsewhere as if they were granted here, until the
  // last holder lets go. Null when the limit does not allow it now.
  std::shared_ptr<void> try_charge(size_t bytes, Use use);
  // Whether try_acquire would grant this now.
  bool has_room(size_t bytes) const;
  // Labels a buffer anew. Requires: it is one of this pool (throws Error).
  void set_use(Buffer& buffer, Use use);

  // `callback` is called, in the thread that lets go, each time that room has become free; it may
  // use the pool. It replaces the one before, null means none; on return the one before is not
  // running and is not called again. Requires: not called by the callback, nor under a lock that it
  // takes; the callback does not throw.
  void on_release(std::function<void()> callback);

  // Gives all cached allocations back to the system.
  void trim();
  Usage usage() const;
  // Who holds what, in words.
  std::string explain() const;

  struct State;  // what buffers share with the pool

 private:
  std::shared_ptr<State> state_;
};

// The allocation that a buffer of so many bytes takes: Note [Size classes].
size_t size_class(size_t bytes);
// "1.5 MiB"
std::string in_words(size_t bytes);

}  // namespace stoker
