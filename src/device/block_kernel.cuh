// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Block programs as kernels, for .cu files. Where nvcc compiles them they run on GPUs too, else on
// simulated devices only.
#pragma once
#include "device/device.h"

namespace stoker {

#ifdef __CUDACC__
template <class P>
__global__ void __launch_bounds__(P::kMostThreads, P::kBlocks) block_kernel(const P program) {
  extern __shared__ __align__(128) std::byte shared_memory[];
  for (int phase = 0; phase < P::kPhases; ++phase, __syncthreads())
    program.run(phase, blockIdx.x, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                shared_memory);
}
#endif

// Launches `program` on any device. Requires: a block has at most P::kMostThreads threads. The
// kernel is compiled so that P::kBlocks blocks of this size fit into the registers of a
// multiprocessor.
template <class P>
void launch_blocks(Stream& stream, const P& program, const Grid& grid, std::string_view name) {
  BlockProgram erased = erase(program);
#ifdef __CUDACC__
  erased.kernel = reinterpret_cast<const void*>(&block_kernel<P>);
#endif
  stream.launch(erased, grid, name);
}

}  // namespace stoker
