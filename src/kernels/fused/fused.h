// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs any list of blocks over memory, in as few passes as the blocks compose to: usually one.
// Thread-safe; the arena is the caller's.
#pragma once
#include <span>

#include "base/view.h"
#include "kernels/block.h"
#include "memory/arena.h"

namespace stoker {

// Writes the window of the blocks' result that `out` covers. The bytes are those that the blocks
// give one by one on whole arrays. Both views may have any strides. Memory comes from the arena
// only.
// Requires: `in` and `out` do not overlap; `in` covers demand() of out.covers(); no axis that is
// resampled has the extent 0, before or after.
// Throws Error when the type or the full shape of `out` is not what the blocks make.
void run_blocks(std::span<const Block> blocks, const View& in, const View& out, Arena& scratch);

}  // namespace stoker
