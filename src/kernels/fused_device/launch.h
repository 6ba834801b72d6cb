// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches the passes of a FusedBatch on any device.
#pragma once
#include <string_view>

#include "device/device.h"
#include "kernels/fused_device/program.h"

namespace stoker {

void launch(Stream& stream, const FusedProgram& program, const Grid& grid, std::string_view name);

}  // namespace stoker
