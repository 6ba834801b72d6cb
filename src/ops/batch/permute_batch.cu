// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy.h"
#include "op/loops/gpu_blocks.cuh"
#include "op/type_of.h"

namespace stoker::ops::batch {

struct PermuteBatch {
  Small<int64_t> indices;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "permute_batch",
      "Gives each place of a batch the sample of another place.\n\n"
      "Places count the samples of the batch from 0, without those that failed before. An index "
      "that no sample has fails the batch, and so does a list with another number of indices. So "
      "where samples may fail, take the indices from batch_permutation, which counts the same "
      "samples. The output's source_info is that of the samples in their new order.",
      ports({.name = "input", .help = "Any tensors."}),
      ports({.name = "output", .help = "The samples in their new order."}),
      arg(&PermuteBatch::indices, "indices",
          "Which sample comes to a place: one number for each sample of the batch, computed or in "
          "a "
          "list, or one number for all. A sample may come several times, or not at all.",
          at_least(0), kRequiredPerSample));

  void check(Checker& c) const {
    require(c.is_computed("indices") || !indices.empty(), "argument 'indices' is empty");
    c.out(c.in());
  }

  // The place of the sample that comes to place i of n. Throws WrongCall.
  size_t source(size_t i, size_t n) const {
    require_count("argument 'indices'", indices.size(), {1, static_cast<int64_t>(n)},
                  "one for all samples of the batch or one for each");
    const int64_t index = indices.at_or_only(i);
    require(index >= 0 && index < static_cast<int64_t>(n), "argument 'indices' has ", index,
            " for sample ", i, " of the batch, expected 0 to ", n - 1);
    return static_cast<size_t>(index);
  }

  std::optional<std::vector<int>> joined(size_t place, size_t count) const {
    return std::vector<int>{static_cast<int>(source(place, count))};
  }

  static void infer_batch(BatchInference& b, std::span<const PermuteBatch* const> ops) {
    const size_t n = b.items.size();
    for (size_t i = 0; i < n; ++i) b.items[i].outputs = {b.items[ops[i]->source(i, n)].inputs[0]};
  }
  static void run_batch(BatchRun& r, std::span<const PermuteBatch* const> ops) {
    for (size_t i = 0; i < r.items.size(); ++i) {
      const size_t from = ops[i]->source(i, r.items.size());
      copy_to_dense(r.items[from].inputs[0], r.items[i].outputs[0].data);
    }
  }
  static void run_gpu(GpuRun& r, std::span<const PermuteBatch* const> ops) {
    copy_each(
        r, [&](size_t i) { return r.items[ops[i]->source(i, r.items.size())].inputs[0]; },
        [&](size_t i) { return r.items[i].outputs[0]; });
  }

  static std::vector<Case> cases() {
    return {
        {"indices=[0]", {"uint8 HWC [[[1, 2]]]"}, {"uint8 [[[1, 2]]]"}},
        {"indices=0", {"float32 1.5"}, {"float32 1.5"}},
    };
  }
};

}  // namespace stoker::ops::batch

STOKER_OPERATOR(stoker::ops::batch::PermuteBatch)
