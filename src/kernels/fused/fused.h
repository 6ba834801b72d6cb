// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs any list of blocks over memory in as few passes as compose: usually one. Thread-safe; the
// arena is the caller's.
#pragma once
#include <span>

#include "base/view.h"
#include "kernels/block.h"
#include "memory/arena.h"

namespace stoker {

// Writes just the window that `out` is of the blocks' result; the bytes are those of running the
// blocks one by one on whole arrays. Anything strided goes in and out, and no memory is allocated
// but from the arena.
// Requires: `in` and `out` do not overlap, `in` covers demand() of out.covers(); no extent is 0.
// Throws Error when `out` has another type or full shape than the blocks make.
void run_blocks(std::span<const Block> blocks, const View& in, const View& out, Arena& scratch);

}  // namespace stoker
