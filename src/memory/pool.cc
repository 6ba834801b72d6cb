// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/pool.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/error.h"
#include "base/mutex.h"
#include "memory/poison.h"

namespace stoker {
namespace detail {
struct GiveBack {
  HostAllocator* allocator = nullptr;
  size_t bytes = 0;
  void operator()(std::byte* p) const { allocator->give_back(p, bytes); }
};
using Allocation = std::unique_ptr<std::byte, GiveBack>;
}  // namespace detail

namespace {

using detail::Allocation;

constexpr size_t kSmallestClass = 256;
constexpr size_t kBehind = 64;  // readable bytes behind every allocation

constexpr int at(Use use) { return static_cast<int>(use); }

}  // namespace

size_t size_class(size_t bytes) {
  if (bytes <= kSmallestClass) return kSmallestClass;
  if (bytes > SIZE_MAX / 4) return SIZE_MAX;  // fits no limit that a machine can have
  const size_t step = std::bit_floor(bytes - 1) / 4;
  return (bytes + step - 1) / step * step;
}

std::string in_words(size_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  double value = static_cast<double>(bytes);
  for (; value >= 1024; value /= 1024) ++unit;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

struct HostPool::State {
  struct Listener {
    std::function<void()> call;
    int running = 0;  // guarded by State::mutex
  };
  struct Cached {
    Allocation allocation;
    uint64_t since;
  };

  State(size_t limit, std::shared_ptr<HostAllocator> allocator) : allocator(std::move(allocator)) {
    now.limit = limit;
  }

  const std::shared_ptr<HostAllocator> allocator;  // outlives the allocations below
  // In a forked child, a thread that does not exist there may hold the mutex.
  const pid_t owner = getpid();
  // The listener is never called under it, and the allocator, which may be slow, only where the
  // system has no memory left.
  mutable Mutex mutex;
  ConditionVariable quiet;  // a listener has returned
  Usage now STOKER_GUARDED_BY(mutex);
  size_t recent_peak STOKER_GUARDED_BY(mutex) = 0;  // most granted since trim()
  uint64_t releases STOKER_GUARDED_BY(mutex) = 0;
  bool is_closed STOKER_GUARDED_BY(mutex) = false;
  // By size class; the longest unused comes first.
  std::map<size_t, std::deque<Cached>> cache STOKER_GUARDED_BY(mutex);
  std::shared_ptr<Listener> listener STOKER_GUARDED_BY(mutex);

  bool fits(size_t bytes, Use use = Use::kOutput) const STOKER_REQUIRES(mutex) {
    return bytes < SIZE_MAX && (use == Use::kRead || bytes <= now.limit - now.in_use);
  }
  size_t granted() const STOKER_REQUIRES(mutex) { return now.in_use + now.of(Use::kRead); }
  void add_buffer(size_t bytes, Use use) STOKER_REQUIRES(mutex) {
    ++now.buffers[at(use)];
    now.bytes[at(use)] += bytes;
    if (use != Use::kRead) now.in_use += bytes;
    now.high_water = std::max(now.high_water, now.in_use);
    recent_peak = std::max(recent_peak, granted());
  }
  void subtract_buffer(size_t bytes, Use use) STOKER_REQUIRES(mutex) {
    --now.buffers[at(use)];
    now.bytes[at(use)] -= bytes;
    if (use != Use::kRead) now.in_use -= bytes;
  }
  void note_held() STOKER_REQUIRES(mutex) {
    now.high_water_held = std::max(now.high_water_held, now.in_use + now.cached);
  }
  Allocation take_cached(size_t size) STOKER_REQUIRES(mutex) {
    const auto found = cache.find(size);
    if (found == cache.end()) return nullptr;
    // The allocation used last is the likeliest to be in the CPU's cache.
    Allocation allocation = std::move(found->second.back().allocation);
    found->second.pop_back();
    if (found->second.empty()) cache.erase(found);
    now.cached -= size;
    return allocation;
  }
  Allocation take_oldest() STOKER_REQUIRES(mutex) {
    auto oldest = cache.begin();
    for (auto it = cache.begin(); it != cache.end(); ++it)
      if (it->second.front().since < oldest->second.front().since) oldest = it;
    Allocation allocation = std::move(oldest->second.front().allocation);
    now.cached -= oldest->first;
    oldest->second.pop_front();
    if (oldest->second.empty()) cache.erase(oldest);
    return allocation;
  }
  // Takes from the cache what exceeds Note [Size classes], to be freed without the lock.
  std::vector<Allocation> surplus() STOKER_REQUIRES(mutex) {
    const size_t most = std::min(recent_peak + recent_peak / 4 - granted(), now.limit - now.in_use);
    std::vector<Allocation> to_free;
    while (now.cached > 0 && now.cached > most) to_free.push_back(take_oldest());
    return to_free;
  }
  void keep(Allocation allocation, size_t size, std::vector<Allocation>& to_free)
      STOKER_REQUIRES(mutex) {
    try {
      cache[size].push_back({std::move(allocation), ++releases});
    } catch (const std::bad_alloc&) {
      return;  // no memory to note the allocation, so it went back to the system
    }
    now.cached += size;
    to_free = surplus();
  }
  std::vector<Allocation> everything() STOKER_REQUIRES(mutex) {
    std::vector<Allocation> to_free;
    while (now.cached > 0) to_free.push_back(take_oldest());
    return to_free;
  }

  std::shared_ptr<Listener> begin_call() STOKER_REQUIRES(mutex) {
    if (listener) ++listener->running;
    return listener;
  }

  bool is_foreign() const { return getpid() != owner; }
  // Null when there is none.
  Allocation new_allocation(size_t size) const {
    return Allocation(allocator->take(size + kBehind), {allocator.get(), size + kBehind});
  }
  void finish_call(const std::shared_ptr<Listener>& l) STOKER_EXCLUDES(mutex) {
    if (!l) return;
    l->call();
    MutexLock lock(mutex);
    if (--l->running == 0) quiet.notify_all();
  }
  void set_listener(std::shared_ptr<Listener> next) STOKER_EXCLUDES(mutex) {
    MutexLock lock(mutex);
    const std::shared_ptr<Listener> before = std::exchange(listener, std::move(next));
    if (before) quiet.wait(mutex, [&] { return before->running == 0; });
  }
  // Ends an account here. `allocation` is null where it lies elsewhere or bytes were only charged.
  void put_back(Allocation allocation, size_t size, Use use) noexcept STOKER_EXCLUDES(mutex) {
    if (is_foreign()) return;  // the allocator knows what to do in a child
    if (allocation) poison(allocation.get(), size + kBehind);
    std::vector<Allocation> to_free;
    std::shared_ptr<Listener> l;
    {
      MutexLock lock(mutex);
      subtract_buffer(size, use);
      if (allocation && !is_closed) keep(std::move(allocation), size, to_free);
      if (use != Use::kRead) l = begin_call();
    }
    to_free.clear();
    finish_call(l);
  }
  // Keeps an allocation that counted elsewhere.
  void come_home(Allocation allocation, size_t size) noexcept STOKER_EXCLUDES(mutex) {
    if (is_foreign()) return;
    poison(allocation.get(), size + kBehind);
    std::vector<Allocation> to_free;  // freed after the lock is released
    MutexLock lock(mutex);
    if (!is_closed) keep(std::move(allocation), size, to_free);
    note_held();
  }
};

namespace {

// Where bytes count, and as what.
struct Account {
  std::shared_ptr<HostPool::State> state;
  size_t bytes = 0;
  Use use = Use::kOutput;  // guarded by the state's mutex
};

class HostBuffer final : public Buffer {
 public:
  HostBuffer(Allocation allocation, size_t size, Account account)
      : Buffer(allocation.get(), size),
        allocation_(std::move(allocation)),
        allocation_size_(account.bytes),
        home_(account.state),
        account_(std::move(account)) {
    unpoison(data(), size + kBehind);
  }
  ~HostBuffer() override {
    if (account_.state != home_) home_->come_home(std::move(allocation_), allocation_size_);
    account_.state->put_back(std::move(allocation_), account_.bytes, account_.use);
  }

  bool is_of(const std::shared_ptr<HostPool::State>& state) const {
    return account_.state == state;
  }
  void relabel(Use use) {
    MutexLock lock(account_.state->mutex);
    account_.state->subtract_buffer(account_.bytes, account_.use);
    account_.use = use;
    account_.state->add_buffer(account_.bytes, account_.use);
  }
  bool try_keep() {
    std::vector<Allocation> to_free;  // after the lock
    MutexLock lock(account_.state->mutex);
    if (account_.use != Use::kRead || !account_.state->fits(account_.bytes)) return false;
    account_.state->subtract_buffer(account_.bytes, account_.use);
    account_.use = Use::kOutput;
    account_.state->add_buffer(account_.bytes, account_.use);
    to_free = account_.state->surplus();
    account_.state->note_held();
    return true;
  }
  void exchange(Account& other) {
    if (other.bytes < allocation_size_) throw Error("this charge is too small for the buffer");
    std::swap(account_, other);
  }

 private:
  Allocation allocation_;
  const size_t allocation_size_;
  const std::shared_ptr<HostPool::State> home_;
  Account account_;
};

struct Charge {
  Account account;

  explicit Charge(Account account) : account(std::move(account)) {}
  ~Charge() { account.state->put_back({}, account.bytes, account.use); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
};

}  // namespace

HostPool::HostPool(size_t limit, std::shared_ptr<HostAllocator> allocator)
    : state_(std::make_shared<State>(limit, std::move(allocator))) {}

HostPool::~HostPool() {
  if (state_->is_foreign()) {
    // The state is left as it is, because another thread may have been changing it.
    (void)new (std::nothrow) std::shared_ptr<State>(std::move(state_));
    return;
  }
  state_->set_listener(nullptr);
  std::vector<Allocation> to_free;  // freed after the lock, as that is slow
  MutexLock lock(state_->mutex);
  state_->is_closed = true;
  to_free = state_->everything();
}

std::shared_ptr<Buffer> HostPool::try_acquire(size_t bytes, Use use) {
  const size_t size = size_class(bytes);
  Allocation allocation;
  std::vector<Allocation> to_free;
  {
    MutexLock lock(state_->mutex);
    if (!state_->fits(size, use)) return nullptr;
    allocation = state_->take_cached(size);
    state_->add_buffer(size, use);
    to_free = state_->surplus();
    state_->note_held();
  }
  to_free.clear();
  try {
    if (!allocation) allocation = state_->new_allocation(size);
    if (!allocation) {
      trim();
      allocation = state_->new_allocation(size);
    }
    if (!allocation)
      throw BudgetError("the system has no memory for " + in_words(bytes) +
                        ", though the budget allows it. " + explain());
    return std::make_shared<HostBuffer>(std::move(allocation), bytes, Account{state_, size, use});
  } catch (...) {
    MutexLock lock(state_->mutex);
    state_->subtract_buffer(size, use);
    throw;
  }
}

std::shared_ptr<void> HostPool::try_charge(size_t bytes, Use use) {
  std::vector<Allocation> to_free;  // freed after the lock is released
  {
    MutexLock lock(state_->mutex);
    if (!state_->fits(bytes)) return nullptr;
    state_->add_buffer(bytes, use);
    to_free = state_->surplus();
    state_->note_held();
  }
  return std::make_shared<Charge>(Account{state_, bytes, use});
}

void HostPool::take_over(Buffer& buffer, std::shared_ptr<void> charge) {
  auto* taken = dynamic_cast<HostBuffer*>(&buffer);
  const std::shared_ptr<void> ended = std::move(charge);  // with what the buffer counted as before
  auto* account = &static_cast<Charge*>(ended.get())->account;
  if (!taken || account->state != state_) throw Error("this charge belongs to another pool");
  taken->exchange(*account);
}

bool HostPool::has_room(size_t bytes) const {
  MutexLock lock(state_->mutex);
  return state_->fits(size_class(bytes));
}

void HostPool::set_use(Buffer& buffer, Use use) {
  auto* ours = dynamic_cast<HostBuffer*>(&buffer);
  if (!ours || !ours->is_of(state_)) throw Error("this buffer belongs to another pool");
  ours->relabel(use);
}

bool HostPool::try_keep(Buffer& buffer) {
  auto* ours = dynamic_cast<HostBuffer*>(&buffer);
  return ours && ours->is_of(state_) && ours->try_keep();
}

void HostPool::on_release(std::function<void()> callback) {
  std::shared_ptr<State::Listener> next;
  if (callback) next = std::make_shared<State::Listener>(State::Listener{std::move(callback)});
  state_->set_listener(std::move(next));
}

void HostPool::trim() {
  {
    std::vector<Allocation> to_free;  // freed after the lock is released
    MutexLock lock(state_->mutex);
    to_free = state_->everything();
    state_->recent_peak = state_->granted();
  }
  state_->allocator->trim();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

Usage HostPool::usage() const {
  MutexLock lock(state_->mutex);
  return state_->now;
}

std::string HostPool::explain() const {
  static constexpr const char* kNames[kUses] = {"in outputs being made", "in outputs that you hold",
                                                "in batches that were fed", ""};
  const Usage u = usage();
  std::string s = "Host memory: " + in_words(u.in_use) + " in use";
  if (u.limit != SIZE_MAX) s += " of a limit of " + in_words(u.limit);
  const char* separator = " (";
  for (int k = 0; k < kUses; ++k) {
    if (u.bytes[k] == 0 || k == at(Use::kRead)) continue;
    s += separator + in_words(u.bytes[k]) + " " + kNames[k] + ", " + std::to_string(u.buffers[k]) +
         (u.buffers[k] == 1 ? " buffer" : " buffers");
    separator = "; ";
  }
  if (u.in_use > 0) s += ")";
  return s + ", " + in_words(u.cached) + " cached, at most " + in_words(u.high_water) +
         " in use so far.";
}

}  // namespace stoker
