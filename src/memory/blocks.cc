// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/blocks.h"

#include <cstdlib>

namespace stoker {
namespace {

class SystemBlocks final : public BlockSource {
 public:
  std::byte* take(size_t bytes) override {
    const size_t align = block_alignment(bytes);
    return static_cast<std::byte*>(std::aligned_alloc(align, round_up(bytes, align)));
  }
  void give_back(std::byte* block, size_t) noexcept override { std::free(block); }
};

}  // namespace

std::shared_ptr<BlockSource> system_blocks() {
  static const auto* source = new std::shared_ptr<BlockSource>(std::make_shared<SystemBlocks>());
  return *source;
}

}  // namespace stoker
