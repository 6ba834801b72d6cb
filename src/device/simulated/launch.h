// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch of a block program on a simulated device.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device.h"

namespace stoker {

// Keeps its own copy of the program. Calling it runs all blocks. The seed shuffles the blocks and
// the threads of each phase. Each block begins with shared memory full of SimulatedDevice::kFresh.
class SimulatedLaunch {
 public:
  SimulatedLaunch(const BlockProgram& program, const Grid& grid, uint64_t seed);
  void operator()() const;

 private:
  std::vector<std::byte> object_;
  BlockProgram program_;
  Grid grid_;
  uint64_t seed_;
};

}  // namespace stoker
