// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"
#include "kernels/elements/boxes.h"
#include "kernels/elements/matched_boxes.h"
#include "op/loops/gpu_blocks.cuh"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::boxes {

struct BoxEncoder {
  Small<float> anchors, means = {0, 0, 0, 0}, stds = {1, 1, 1, 1};
  float criteria = 0.5f;
  bool offset = false;

  struct FindBest {
    MatchedBoxes work;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const { work.find_best(k); }
  };
  struct Encode {
    MatchedBoxes work;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const { work.encode(k); }
  };

  // Offsets are in sizes of the anchor, whatever the scale of both is.
  static constexpr const char* kIgnored[] = {"scale"};
  static constexpr auto schema = describe(
      "box_encoder",
      "Gives each anchor the box that it has to find, for training detectors.\n\n"
      "A box's best anchor always matches it, the last one of several; of boxes that share a best "
      "anchor the last one does. Other anchors match the box that they overlap most, if the shared "
      "area is more than 'criteria' of the joint one. Anchors without a match have label 0.",
      ports({.name = "boxes", .help = "Rows of left, top, right, bottom.", .dtypes = "float32"},
            {.name = "labels", .help = "One for each box.", .dtypes = "int32"}),
      ports({.name = "encoded",
             .help = "For each anchor the centre x, y, the width and the height of its box, or "
                     "of itself without a match. With offset: how they differ from its own."},
            {.name = "labels_of_anchors", .help = "For each anchor the label, int32."}),
      arg(&BoxEncoder::anchors, "anchors", "Left, top, right, bottom of all anchors, in a row.",
          kRequired),
      arg(&BoxEncoder::criteria, "criteria", "The overlap above which an anchor matches.",
          between(0, 1)),
      arg(&BoxEncoder::means, "means", "Four means, which are subtracted from offsets."),
      arg(&BoxEncoder::offset, "offset",
          "Whether to give offsets: of the centre in sizes of the anchor, and the logarithm of the "
          "size in these; 0 without a match."),
      arg(&BoxEncoder::stds, "stds", "Four deviations, which offsets are divided by."));

  int64_t count() const { return static_cast<int64_t>(anchors.size()) / 4; }
  void add_types(std::span<const TensorType> in, std::vector<TensorType>& out) const {
    const Shape &b = in[0].shape, &l = in[1].shape;
    require(b.rank < 0 || (b.rank == 2 && (b[1] == 4 || b[1] < 0)), "the boxes have the shape ", b,
            ", expected (N, 4)");
    require(l.rank != 0, "the labels are one number, expected a list");
    const bool fits = b.rank < 0 || l.rank < 0 || b[0] < 0 || std::min(l[0], l[l.rank - 1]) < 0 ||
                      (l[0] == b[0] && l.volume() == b[0]);
    require(fits, "the labels have the shape ", l, ", and the boxes ", b);
    out.push_back({DType::kFloat32, {}, {count(), 4}});
    out.push_back({DType::kInt32, {}, {count()}});
  }
  void check(Checker& c) const {
    require(!anchors.empty() && anchors.size() % 4 == 0, "argument 'anchors' has ", anchors.size(),
            " values, expected four for each anchor");
    for (size_t i = 0; i < anchors.size(); i += 4)
      require(anchors[i] < anchors[i + 2] && anchors[i + 1] < anchors[i + 3],
              "argument 'anchors' has an anchor without an area, number ", i / 4);
    require_count("argument 'means'", means.size(), {4}, "for x, y, width and height");
    require_count("argument 'stds'", stds.size(), {4}, "for x, y, width and height");
    for (float s : stds) require(s > 0, "argument 'stds' has ", s, ", expected more than 0");
    add_types(c.inputs, c.outputs);
  }
  void infer(Inference& i) const { add_types(i.inputs, i.outputs); }

  MatchedBoxes work(const View& boxes, const float* given, const float* dense,
                    const int32_t* labels) const {
    BoxEncoding how{criteria, offset, {}, {}};
    std::copy(means.begin(), means.end(), how.means);
    std::copy(stds.begin(), stds.end(), how.stds);
    return {dense, given, labels, boxes.full[0], count(), how, nullptr, nullptr, nullptr};
  }
  void run_cpu(Run& r) const {
    const View &in = r.inputs[0], &labels = r.inputs[1];
    auto* dense = r.scratch.array<float>(static_cast<size_t>(in.shape.volume()));
    auto* numbers = r.scratch.array<int32_t>(static_cast<size_t>(labels.shape.volume()));
    copy_to_dense(in, dense);
    copy_to_dense(labels, numbers);
    MatchedBoxes w = work(in, anchors.data(), dense, numbers);
    w.best = r.scratch.array<int64_t>(static_cast<size_t>(w.box_count));
    w.out = r.scratch.array<float>(static_cast<size_t>(4 * count()));
    w.out_labels = r.scratch.array<int32_t>(static_cast<size_t>(count()));
    for (int64_t b = 0; b < w.box_count; ++b) w.find_best(b);
    for (int64_t a = 0; a < w.anchor_count; ++a) w.encode(a);
    copy_window(View::dense(w.out, DType::kFloat32, {count(), 4}), r.outputs[0]);
    copy_window(View::dense(w.out_labels, DType::kInt32, {count()}), r.outputs[1]);
  }
  static void run_gpu(GpuRun& r, std::span<const BoxEncoder* const> items) {
    const Small<float>& list = items[0]->anchors;  // the same for all items
    const float* given = r.put(std::span<const float>(list.data(), list.size()));
    std::vector<View> dense[2];  // by input
    for (size_t k = 0; k < 2; ++k) {
      for (const auto& item : r.items) {
        const View& in = item.inputs[k];
        void* room = r.scratch(static_cast<size_t>(std::max<int64_t>(in.bytes(), 1)));
        dense[k].push_back(View::dense(room, in.dtype, in.full));
      }
      copy_each(
          r, [&](size_t i) { return r.items[i].inputs[k]; }, [&](size_t i) { return dense[k][i]; });
    }
    std::vector<FindBest> finds;
    std::vector<Encode> encodes;
    for (size_t i = 0; i < items.size(); ++i) {
      MatchedBoxes w = items[i]->work(r.items[i].inputs[0], given, dense[0][i].as<float>(),
                                      dense[1][i].as<int32_t>());
      w.best = reinterpret_cast<int64_t*>(
          r.scratch(static_cast<size_t>(std::max<int64_t>(w.box_count, 1)) * sizeof(int64_t)));
      w.out = r.items[i].outputs[0].as<float>();
      w.out_labels = r.items[i].outputs[1].as<int32_t>();
      finds.push_back({w, w.box_count});
      encodes.push_back({w, w.anchor_count});
    }
    run_each(r, std::span<const FindBest>(finds));
    run_each(r, std::span<const Encode>(encodes));
  }

  static std::vector<Case> cases() {
    return {
        {"anchors=[0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0]",
         {"float32 [[0, 0, 0.5, 0.25]]", "int32 [7]"},
         {"float32 [[0.25, 0.125, 0.5, 0.25], [0.75, 0.75, 0.5, 0.5]]", "int32 [7, 0]"}},
        {"anchors=[0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0], offset=True",
         {"float32 [[0.5, 0.5, 1, 1]]", "int32 [[3]]"},
         {"float32 [[0, 0, 0, 0], [0, 0, 0, 0]]", "int32 [0, 3]"}},
    };
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::BoxEncoder)
