// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_launch.h"

#include "kernels/fused_phases.h"
#include "memory/block_kernel.cuh"

namespace stoker {

void launch(Stream& stream, const FusedProgram& program, const Grid& grid, std::string_view name) {
  launch_blocks(stream, program, grid, name);
}

}  // namespace stoker
