// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/gpu_run.h"

#include <cstring>

namespace stoker {

std::byte* GpuRun::scratch(size_t bytes) {
  return held_.emplace_back(memory_.acquire(bytes))->data();
}

const std::byte* GpuRun::put_bytes(std::span<const std::byte> bytes) {
  std::byte* to = scratch(bytes.size());
  if (bytes.empty()) return to;
  const std::shared_ptr<Buffer> staged = memory_.staging.try_acquire(bytes.size(), Use::kOutput);
  std::memcpy(staged->data(), bytes.data(), bytes.size());
  memory_.held.push_back(staged);
  stream.copy(to, staged->data(), bytes.size(), Copy::kToDevice, name + " tables");
  return to;
}

}  // namespace stoker
