// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/fused_device/batch.h"
#include "kernels/fused_device/launch.h"
#include "op/gpu_run.h"

namespace stoker {

// run_blocks() of kernels/fused/fused.h for a batch: writes output(i) by blocks(i) from input(i)
// for each item i, which are views of device memory.
template <class Blocks, class Input, class Output>
void run_blocks(GpuRun& r, Blocks blocks, Input input, Output output) {
  constexpr int64_t kBlockNs = 100;  // a guess, which only the virtual clock uses
  FusedBatch batch;
  for (size_t i = 0; i < r.items.size(); ++i) {
    const std::vector<Block> list = blocks(i);
    batch.add(list, input(i), output(i));
  }
  batch.finish();
  const std::byte* tables = r.put(batch.tables());
  std::byte* scratch = r.scratch(batch.scratch_bytes());
  for (size_t i = 0; i < batch.stages().size(); ++i) {
    const FusedBatch::Stage& s = batch.stages()[i];
    launch(r.stream, batch.program(i, tables, scratch),
           {s.blocks, s.threads, s.shared_bytes, s.blocks * kBlockNs}, r.name);
  }
}

// Copies to output(i) the values of input(i) at the same places.
template <class Input, class Output>
void copy_each(GpuRun& r, Input input, Output output) {
  const auto same = [&](size_t i) {
    const View in = input(i);
    return std::vector<Block>{{Gather::identity(in.full), in.dtype}};
  };
  run_blocks(r, same, input, output);
}

}  // namespace stoker
