// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/allocator.h"

namespace stoker {
namespace {

class SystemAllocator final : public HostAllocator {
 public:
  std::byte* take(size_t bytes) override { return take_from_system(bytes).release(); }
  void give_back(std::byte* allocation, size_t bytes) noexcept override {
    BackToSystem{bytes}(allocation);
  }
};

}  // namespace

std::shared_ptr<HostAllocator> system_allocator() {
  static const auto* allocator =
      new std::shared_ptr<HostAllocator>(std::make_shared<SystemAllocator>());
  return *allocator;
}

}  // namespace stoker
