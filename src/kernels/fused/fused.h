// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs any list of blocks over memory, in as few passes as they compose to: usually one.
#pragma once
#include <span>

#include "base/view.h"
#include "kernels/block.h"
#include "memory/arena.h"

namespace stoker {

// Writes the window of the blocks' result that `out` covers: the bytes that the blocks give one by
// one on whole arrays. Views may have any strides. Memory comes from `scratch` only. Requires: `in`
// and `out` do not overlap; `in` covers demand() of out.covers(); no axis that is resampled has the
// extent 0, before or after. Throws Error when the type or the full shape of `out` is not what the
// blocks make.
void run_blocks(std::span<const Block> blocks, const View& in, const View& out, Arena& scratch);

}  // namespace stoker
