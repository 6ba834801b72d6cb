// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/simulated/launch.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <utility>

#include "device/simulated/simulated.h"

namespace stoker {
namespace {

constexpr int kOrders = 8;  // orders of the threads, one of which is chosen for each phase

struct Freer {
  void operator()(std::byte* p) const { std::free(p); }
};
// Memory of the exact size, so that AddressSanitizer knows where it ends. Null for 0 bytes.
std::unique_ptr<std::byte, Freer> shared_memory(size_t bytes) {
  void* p = nullptr;
  if (bytes > 0 && posix_memalign(&p, 128, bytes) != 0) throw std::bad_alloc();
  return std::unique_ptr<std::byte, Freer>(static_cast<std::byte*>(p));
}

std::vector<int> shuffled(int n, std::mt19937_64& random) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  return order;
}

// A step that visits all of n numbers, so that the order of blocks needs no table.
int64_t step_through(int64_t n, std::mt19937_64& random) {
  int64_t step = 1 + static_cast<int64_t>(random() % n);
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

}  // namespace

SimulatedLaunch::SimulatedLaunch(const BlockProgram& program, const Grid& grid, uint64_t seed)
    : object_(program.bytes), program_(program), grid_(grid), seed_(seed) {
  std::memcpy(object_.data(), program.object, program.bytes);
  program_.object = nullptr;  // the caller's object may be gone when this runs
}

void SimulatedLaunch::operator()() const {
  std::mt19937_64 random(seed_);
  std::vector<std::vector<int>> orders;
  for (int i = 0; i < kOrders; ++i) orders.push_back(shuffled(grid_.threads, random));
  const auto shared = shared_memory(grid_.shared_bytes);
  const int64_t n = grid_.blocks, step = step_through(n, random);
  int64_t block = static_cast<int64_t>(random() % n);
  for (int64_t i = 0; i < n; ++i, block = (block + step) % n) {
    if (shared)
      std::memset(shared.get(), std::to_integer<int>(SimulatedDevice::kFresh), grid_.shared_bytes);
    for (int phase = 0; phase < program_.phases; ++phase)
      program_.run_phase(object_.data(), phase, block, orders[random() % kOrders], shared.get());
  }
}

}  // namespace stoker
