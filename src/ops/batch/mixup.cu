// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_mixing.cuh"
#include "op/type_of.h"

namespace stoker::ops::batch {

struct Mixup : MixingArguments {
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "mixup",
      "Mixes each sample of a batch with another one, and their labels alike.\n\n"
      "A result is share sample + (1 - share) partner (Zhang and others: mixup, 2018). Bytes are "
      "rounded to less than 0.51 from the exact mixture. All samples of the batch need one shape. "
      "Labels become shares of the classes, mixed by the same share. The only sample of a batch "
      "is its own partner.",
      ports({.name = "images",
             .help = "Pictures, or any tensors of one shape.",
             .dtypes = "uint8, float32, float16, float64, int8, uint16, int16"},
            kMixedLabelsPort),
      ports({.name = "mixed", .help = "The mixtures, with the dtype and layout of the input."},
            kMixedLabelsOutput),
      kMixingArguments);

  static void infer_batch(BatchInference& b, std::span<const Mixup* const> ops) {
    ops[0]->infer_mixed(b);
  }
  float share(std::span<const BatchItem> items, size_t i) const {
    Chance chance = chance_of(items, i);
    return static_cast<float>(draw_share(chance));
  }

  static void run_batch(BatchRun& r, std::span<const Mixup* const> ops) {
    const Mixup& op = *ops[0];
    const std::vector<int64_t> partners = op.partners(r.items);
    for (size_t i = 0; i < r.items.size(); ++i) {
      const auto partner = static_cast<size_t>(partners[i]);
      const float own = op.share(r.items, i);
      mix(r.items[i].inputs[0], r.items[partner].inputs[0], own, r.items[i].outputs[0]);
      const MixShares labels = op.mix_labels(r.items, i, partner, own);
      for (int64_t k = 0; k < labels.pieces; ++k) labels.run(k);
    }
  }
  static void run_gpu(GpuRun& r, std::span<const Mixup* const> ops) {
    const Mixup& op = *ops[0];
    const std::vector<int64_t> partners = op.partners(r.items);
    with_type(r.items[0].outputs[0].dtype, [&](auto v) {
      std::vector<MixPieces<decltype(v)>> all;
      for (size_t i = 0; i < r.items.size(); ++i)
        all.emplace_back(r.items[i].inputs[0], r.items[static_cast<size_t>(partners[i])].inputs[0],
                         op.share(r.items, i), r.items[i].outputs[0]);
      run_each(r, std::span<const MixPieces<decltype(v)>>(all));
    });
    stoker::mix_labels(r, op, partners, [&](size_t i) { return op.share(r.items, i); });
  }

  static std::vector<Case> cases() {
    return {
        {"num_classes=3",
         {"uint8 HWC [[[1, 2, 3]]]", "int32 [2]"},
         {"uint8 [[[1, 2, 3]]]", "float32 [0, 0, 1]"}},
        {"num_classes=2, label_smoothing=0.5, alpha=0.0",
         {"float32 CHW [[[0.5, 2]]]", "int64 0"},
         {"float32 [[[0.5, 2]]]", "float32 [0.75, 0.25]"}},
        {"mode='elem', partner='permute', probability=0.0",
         {"int16 HW [[-7, 7]]", "float32 [0.25, 0.75]"},
         {"int16 [[-7, 7]]", "float32 [0.25, 0.75]"}},
    };
  }
};

}  // namespace stoker::ops::batch

STOKER_OPERATOR(stoker::ops::batch::Mixup)
