// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: runs a FusedBatch on the host, at once.
#pragma once
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/fused_device/batch.h"
#include "kernels/fused_device/phases.h"

namespace stoker::test {

// Runs as a device does: blocks and threads in any order, phases apart from each other, with shared
// memory that is undefined when a block begins.
inline void launch(const FusedProgram& program, const FusedBatch::Stage& stage, std::mt19937& rng) {
  std::vector<int64_t> blocks(static_cast<size_t>(stage.blocks));
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), rng);
  const int threads = 1 + static_cast<int>(rng() % 40);
  std::vector<int> order(static_cast<size_t>(threads));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t b : blocks) {
    std::vector<std::byte> shared(stage.shared_bytes, std::byte{0x5c});
    for (int phase = 0; phase < FusedProgram::kPhases; ++phase) {
      std::shuffle(order.begin(), order.end(), rng);
      for (int t : order) program.run(phase, b, t, threads, shared.data());
    }
  }
}

inline void launch_all(FusedBatch& batch, std::mt19937& rng) {
  batch.finish();
  const std::vector<std::byte> tables(batch.tables().begin(), batch.tables().end());
  std::vector<std::byte> scratch(batch.scratch_bytes(), std::byte{0xee});
  for (size_t s = 0; s < batch.stages().size(); ++s)
    launch(batch.program(s, tables.data(), scratch.data()), batch.stages()[s], rng);
}

}  // namespace stoker::test
