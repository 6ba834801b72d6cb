// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_sum.cuh"

namespace stoker {

template <template <class> class Kind>
void sum_up(GpuRun& r, std::span<const SumTask> tasks) {
  if (tasks.empty()) return;
  with_type(tasks[0].in.dtype, [&](auto v) { sum_as<Kind<decltype(v)>>(r, tasks); });
}

template void sum_up<Sum>(GpuRun&, std::span<const SumTask>);
template void sum_up<WideSum>(GpuRun&, std::span<const SumTask>);
template void sum_up<SquaredDistances>(GpuRun&, std::span<const SumTask>);
template void sum_up<Least>(GpuRun&, std::span<const SumTask>);
template void sum_up<Greatest>(GpuRun&, std::span<const SumTask>);

}  // namespace stoker
