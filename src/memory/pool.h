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

// Thrown where there is no memory now. The work that needs it is done later.
struct Starved {
  std::string why;  // "": the pool gives none
  size_t bytes = 0;  // what was wanted of the pool
};

// What buffers are for, so that an error can say who holds the memory.
enum class Use : uint8_t {
  kOutput,  // outputs of steps that are being made or wait to be taken
  kHeld,  // outputs that the user has
  kFed,  // copies of what was fed, until the step was received
  kRead,  // bytes that were read: outside of the limit, because who reads ahead has one of its own
};
inline constexpr int kUses = 4;

struct Usage {
  size_t limit = 0;
  std::array<size_t, kUses> bytes{};  // granted bytes, by use
  std::array<int64_t, kUses> buffers{};  // number of buffers, by use
  size_t in_use = 0;  // sum of `bytes` without kRead
  size_t cached = 0;  // free allocations that are kept for coming buffers
  size_t high_water = 0;  // the most that was in use at once
  size_t high_water_held = 0;  // the most that was in use and cached

  size_t of(Use use) const { return bytes[static_cast<int>(use)]; }
};

// Note [Size classes]
// A buffer takes an allocation of 256 bytes or of the next larger of four sizes per power of two.
// It is at most a quarter too large, and ragged outputs fit into the allocations of earlier ones.
// Budget and usage count allocations without the 64 readable bytes behind each. The pool keeps what
// is in use and cached together below the limit, and with kRead below 5/4 of the most that was
// granted since trim(): the allocations that were unused for longest go back to the system first.
// So nothing grows over epochs, whatever the sizes.
class HostPool {
 public:
  explicit HostPool(size_t limit = SIZE_MAX,  // bytes
                    std::shared_ptr<HostAllocator> allocator = system_allocator());
  ~HostPool();  // buffers may live on; the callback ends as with on_release(nullptr)
  HostPool(const HostPool&) = delete;
  HostPool& operator=(const HostPool&) = delete;

  // Memory aligned to 64 bytes, or to a page from 64 KiB on, with 64 readable bytes behind it. Null
  // when the limit does not allow it now; never waits. Throws BudgetError when the limit allows it
  // but the system has no memory.
  std::shared_ptr<Buffer> try_acquire(size_t bytes, Use use);
  // Counts memory that the caller takes elsewhere as if it were granted here, until the last holder
  // lets go. Null when the limit does not allow it now.
  std::shared_ptr<void> try_charge(size_t bytes, Use use);
  // Lets a buffer of any pool count here, in place of a charge of at least its size class. From
  // then on it is a buffer of this pool, but its allocation goes back to the pool that made it.
  // Throws Error if the charge is from another pool or too small. Requires: no other thread changes
  // what the buffer is for or lets go of it meanwhile.
  void take_over(Buffer& buffer, std::shared_ptr<void> charge);
  // Whether try_acquire would succeed now.
  bool has_room(size_t bytes) const;
  // Throws Error if the buffer is not from this pool.
  void set_use(Buffer& buffer, Use use);
  // Lets a buffer of kRead count as an output. False when the limit does not allow it now, or if
  // the buffer is from elsewhere.
  bool try_keep(Buffer& buffer);

  // Calls `callback`, which may use the pool, whenever room has become free, on the thread that
  // lets go. It replaces the former callback, which is not running any more on return; null means
  // none. Requires: the callback does not throw or call this; no lock is held that the callback
  // takes.
  void on_release(std::function<void()> callback);

  void trim();
  Usage usage() const;
  std::string explain() const;

  struct State;  // what buffers share with the pool

 private:
  std::shared_ptr<State> state_;
};

// The size of the allocation for such a buffer: Note [Size classes].
size_t size_class(size_t bytes);
// "1.5 MiB"
std::string in_words(size_t bytes);

}  // namespace stoker
