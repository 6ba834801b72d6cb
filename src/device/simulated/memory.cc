// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/simulated/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "device/simulated/simulated.h"
#include "memory/poison.h"

namespace stoker {
namespace {

constexpr size_t kAlign = 256;
constexpr size_t kMostUses = 64;  // kept for each allocation
constexpr size_t kMostRetired = 16 << 20;  // bytes

uintptr_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }
void give_back(uintptr_t p) { std::free(reinterpret_cast<void*>(p)); }

[[noreturn]] void refuse(const Actor& actor, const std::string& why) {
  throw DeviceError(actor.what + ": " + why);
}
std::string bytes_in_words(size_t n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

}  // namespace

void Past::add(const Moment& m) {
  if (m.stream >= static_cast<int>(steps_.size())) steps_.resize(m.stream + 1, 0);
  steps_[m.stream] = std::max(steps_[m.stream], m.step);
}

void Past::merge(const Past& other) {
  if (steps_.size() < other.steps_.size()) steps_.resize(other.steps_.size(), 0);
  for (size_t s = 0; s < other.steps_.size(); ++s) steps_[s] = std::max(steps_[s], other.steps_[s]);
}

SimulatedMemory::~SimulatedMemory() {
  for (const auto& [p, allocation] : allocations_) give_back(p);
}

void* SimulatedMemory::try_pin(size_t bytes, size_t limit) {
  constexpr size_t kPage = 4096;
  if (bytes > limit - std::min(usage_.pinned, limit)) return nullptr;
  void* p = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!p) return nullptr;
  pinned_[address(p)] = bytes;
  usage_.pinned += bytes;
  usage_.pinned_high_water = std::max(usage_.pinned_high_water, usage_.pinned);
  return p;
}

void SimulatedMemory::unpin(void* p) {
  const auto it = pinned_.find(address(p));
  usage_.pinned -= it->second;
  pinned_.erase(it);
  std::free(p);
}

bool SimulatedMemory::is_pinned(const void* p, size_t bytes) const {
  const auto it = pinned_.upper_bound(address(p));
  if (it == pinned_.begin()) return false;
  const auto& [begin, size] = *std::prev(it);
  return address(p) + bytes <= begin + size;
}

void* SimulatedMemory::allocate(size_t bytes, const Actor& actor) {
  void* p = nullptr;
  // Of the exact size, so that AddressSanitizer knows where it ends.
  if (posix_memalign(&p, kAlign, std::max<size_t>(bytes, 1)) != 0)
    throw BudgetError(actor.what + ": the system has no " + bytes_in_words(bytes) +
                      " left for a simulated device");
  std::memset(p, std::to_integer<int>(SimulatedDevice::kFresh), bytes);
  Allocation& a = allocations_[address(p)];
  a.bytes = bytes;
  a.made = actor.at;
  a.maker = actor.what;
  usage_.in_use += bytes;
  usage_.allocations += 1;
  usage_.high_water = std::max(usage_.high_water, usage_.in_use);
  return p;
}

// The allocation that holds the byte at p, or end().
SimulatedMemory::Allocations::iterator SimulatedMemory::find(const void* p) {
  auto it = allocations_.upper_bound(address(p));
  if (it == allocations_.begin()) return allocations_.end();
  --it;
  return address(p) - it->first < std::max<size_t>(it->second.bytes, 1) ? it : allocations_.end();
}

void SimulatedMemory::expect_live(const Allocation& a, const Actor& actor) const {
  if (a.is_freed) refuse(actor, "this memory was freed before: " + a.freer);
  expect_behind({a.made, 0, a.bytes, true, a.maker}, actor);
}

void SimulatedMemory::expect_behind(const Use& use, const Actor& actor) const {
  if (!actor.past.has(use.at))
    refuse(actor,
           "no event orders this behind " + use.what + ": record one there and wait for it here");
}

void SimulatedMemory::use(const void* p, size_t bytes, bool writes, const Actor& actor) {
  const auto it = find(p);
  if (it == allocations_.end()) refuse(actor, "its device side is not memory of this device");
  Allocation& a = it->second;
  expect_live(a, actor);
  const size_t begin = address(p) - it->first, left = a.bytes - begin;
  if (bytes > left)
    refuse(actor, "it reaches " + bytes_in_words(bytes - left) +
                      " beyond the end of an allocation of " + bytes_in_words(a.bytes));
  for (const Use& u : a.uses)
    if ((writes || u.writes) && u.begin < begin + bytes && begin < u.end) expect_behind(u, actor);
  a.uses.push_back({actor.at, begin, begin + bytes, writes, actor.what});
  if (a.uses.size() > kMostUses) a.uses.pop_front();
}

void SimulatedMemory::expect_host(const void* p, size_t bytes, const Actor& actor) const {
  const auto behind = allocations_.lower_bound(address(p) + bytes);
  if (behind == allocations_.begin()) return;
  const auto& [begin, a] = *std::prev(behind);
  if (begin + a.bytes > address(p)) refuse(actor, "its host side is device memory");
}

size_t SimulatedMemory::free(void* p, const Actor& actor) {
  const auto it = allocations_.find(address(p));
  if (it == allocations_.end())
    refuse(actor, "this pointer is not the begin of an allocation of this device");
  Allocation& a = it->second;
  expect_live(a, actor);
  for (const Use& u : a.uses) expect_behind(u, actor);
  a.is_freed = true;
  a.freer = actor.what;
  a.uses.clear();
  usage_.in_use -= a.bytes;
  usage_.allocations -= 1;
  return a.bytes;
}

void SimulatedMemory::scribble(void* p, size_t bytes) {
  std::memset(p, std::to_integer<int>(SimulatedDevice::kFreed), bytes);
  poison(p, bytes);
}

void SimulatedMemory::retire(void* p) {
  retired_.push_back(address(p));
  retired_bytes_ += allocations_.at(address(p)).bytes;
  while (retired_bytes_ > kMostRetired || retired_.size() > 1024) {
    const auto it = allocations_.find(retired_.front());
    retired_bytes_ -= it->second.bytes;
    give_back(it->first);
    allocations_.erase(it);
    retired_.pop_front();
  }
}

}  // namespace stoker
