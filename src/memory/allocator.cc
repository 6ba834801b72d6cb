// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/allocator.h"

#include <cstdlib>

namespace stoker {
namespace {

class SystemAllocator final : public HostAllocator {
 public:
  std::byte* take(size_t bytes) override {
    const size_t align = allocation_alignment(bytes);
    return static_cast<std::byte*>(std::aligned_alloc(align, round_up(bytes, align)));
  }
  void give_back(std::byte* allocation, size_t) noexcept override { std::free(allocation); }
};

}  // namespace

std::shared_ptr<HostAllocator> system_allocator() {
  static const auto* allocator =
      new std::shared_ptr<HostAllocator>(std::make_shared<SystemAllocator>());
  return *allocator;
}

}  // namespace stoker
