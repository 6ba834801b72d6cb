// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_device/launch.h"

#include "device/block_kernel.cuh"
#include "kernels/fused_device/phases.h"

namespace stoker {

void launch(Stream& stream, const FusedProgram& program, const Grid& grid, std::string_view name) {
  launch_blocks(stream, program, grid, name);
}

}  // namespace stoker
