// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/gpu_blocks.cuh"
#include "op/loops/gpu_mixing.cuh"
#include "op/type_of.h"

namespace stoker::ops::batch {

struct Cutmix : MixingArguments {
  static constexpr Classes kClasses = Classes::kKept;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "cutmix",
      "Puts a box of another picture of the batch into each one, and mixes their labels.\n\n"
      "The box has the partner's share of height and width each, as the square root of 1 - share, "
      "around a place that is drawn, less what lies outside (Yun and others: CutMix, 2019). All "
      "pictures of the batch need one shape, and frames of a sequence get one box. Labels become "
      "shares of the classes, mixed by the area that each picture has. The only picture of a batch "
      "is its own partner.",
      ports({.name = "images",
             .help = "Pictures of one shape.",
             .layouts = "HWC, CHW, HW, FHWC, FCHW, FHW"},
            kMixedLabelsPort),
      ports({.name = "mixed", .help = "The pictures with their boxes."}, kMixedLabelsOutput),
      kMixingArguments);

  struct Box {
    Window window;  // in all frames and channels; perhaps empty
    float own;  // the share of the picture that stays
  };
  Box box(std::span<const BatchItem> items, size_t i) const {
    const View& in = items[i].inputs[0];
    Chance chance = chance_of(items, i);
    const double half = 0.5 * std::sqrt(1 - draw_share(chance));
    Box b{Window::all(in.shape), 1};
    double area = 1;
    for (const char letter : {'H', 'W'}) {
      const int a = in.layout.find(letter);
      const auto extent = static_cast<double>(in.shape[a]);
      const auto centre = static_cast<int64_t>(chance.uniform() * extent);
      const auto reach = static_cast<int64_t>(half * extent);
      b.window.begin[a] = std::max<int64_t>(centre - reach, 0);
      b.window.end[a] = std::min(centre + reach, in.shape[a]);
      const auto cut = static_cast<double>(b.window.end[a] - b.window.begin[a]);
      area = extent > 0 ? area * (cut / extent) : 0;
    }
    b.own = static_cast<float>(1 - area);
    return b;
  }

  static void infer_batch(BatchInference& b, std::span<const Cutmix* const> ops) {
    ops[0]->infer_mixed(b);
  }

  static void run_batch(BatchRun& r, std::span<const Cutmix* const> ops) {
    const Cutmix& op = *ops[0];
    const std::vector<int64_t> partners = op.partners(r.items);
    for (size_t i = 0; i < r.items.size(); ++i) {
      const auto partner = static_cast<size_t>(partners[i]);
      const Box b = op.box(r.items, i);
      const View& out = r.items[i].outputs[0];
      copy_window(r.items[i].inputs[0], out);
      copy_window(r.items[partner].inputs[0], part_of(out, b.window));
      const MixShares labels = op.mix_labels(r.items, i, partner, b.own);
      for (int64_t k = 0; k < labels.pieces; ++k) labels.run(k);
    }
  }
  static void run_gpu(GpuRun& r, std::span<const Cutmix* const> ops) {
    const Cutmix& op = *ops[0];
    const std::vector<int64_t> partners = op.partners(r.items);
    std::vector<Box> boxes;
    for (size_t i = 0; i < r.items.size(); ++i) boxes.push_back(op.box(r.items, i));
    copy_each(
        r, [&](size_t i) { return r.items[i].inputs[0]; },
        [&](size_t i) { return r.items[i].outputs[0]; });
    copy_each(
        r, [&](size_t i) { return r.items[static_cast<size_t>(partners[i])].inputs[0]; },
        [&](size_t i) { return part_of(r.items[i].outputs[0], boxes[i].window); });
    stoker::mix_labels(r, op, partners, [&](size_t i) { return boxes[i].own; });
  }

  static std::vector<Case> cases() {
    return {
        {"num_classes=3",
         {"uint8 HW [[1, 2, 3, 4, 5, 6], [7, 8, 9, 1, 2, 3], [4, 5, 6, 7, 8, 9]]", "int32 [2]"},
         {"uint8 [[1, 2, 3, 4, 5, 6], [7, 8, 9, 1, 2, 3], [4, 5, 6, 7, 8, 9]]",
          "float32 [0, 0, 1]"}},
        {"num_classes=4, label_smoothing=0.5, alpha=0.0",
         {"float32 CHW [[[0.5, 2]]]", "int64 1"},
         {"float32 [[[0.5, 2]]]", "float32 [0.125, 0.625, 0.125, 0.125]"}},
        {"mode='elem', partner='permute', probability=0.0",
         {"int16 HW [[-7, 7]]", "float32 [0.25, 0.75]"},
         {"int16 [[-7, 7]]", "float32 [0.25, 0.75]"}},
    };
  }
};

}  // namespace stoker::ops::batch

STOKER_OPERATOR(stoker::ops::batch::Cutmix)
