// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/frames.cuh"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct SequenceRearrange {
  Small<int64_t> new_order;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema =
      describe("sequence_rearrange",
               "Puts the frames of a sequence into another order.\n\n"
               "Frames may be left out or repeated. A layout begins with F.",
               ports({.name = "input", .help = "A sequence of any dtype."}),
               ports({.name = "output", .help = "The frames in the new order."}),
               arg(&SequenceRearrange::new_order, "new_order",
                   "For each frame of the output the number of that of the input; at least one.",
                   at_least(0), kRequiredPerSample));

  TensorType rearranged(TensorType in) const {
    require_sequence(in);
    require(!new_order.empty(), "argument 'new_order' is empty");
    if (in.shape.rank < 0) return in;
    for (int64_t f : new_order)
      require(in.shape[0] < 0 || f < in.shape[0], "argument 'new_order' has frame ", f,
              " of a sequence of ", in.shape[0], " frames");
    in.shape[0] = static_cast<int64_t>(new_order.size());
    return in;
  }
  void check(Checker& c) const {
    if (!c.is_computed("new_order")) return c.out(rearranged(c.in()));
    require_sequence(c.in());
    TensorType t = c.in();
    if (t.shape.rank > 0) t.shape[0] = -1;
    c.out(t);
  }
  void infer(Inference& i) const { i.out(rearranged(i.inputs[0])); }

  void demand(Demand& d) const {
    Window& w = d.needed[0];
    w = d.wanted[0];
    const auto *begin = new_order.begin() + w.begin[0], *end = new_order.begin() + w.end[0];
    w.begin[0] = begin == end ? 0 : *std::min_element(begin, end);
    w.end[0] = begin == end ? 0 : *std::max_element(begin, end) + 1;
  }

  std::vector<View> frames(const View& in) const {
    std::vector<View> all;
    for (int64_t f : new_order) all.push_back(one_frame(in, f));
    return all;
  }
  void run_cpu(Run& r) const { join(frames(r.inputs[0]), r.outputs[0], 0); }
  static void run_gpu(GpuRun& r, std::span<const SequenceRearrange* const> items) {
    join(
        r, [&](size_t i) { return items[i]->frames(r.items[i].inputs[0]); },
        [](size_t) { return 0; });
  }

  static std::vector<Case> cases() {
    return {
        {"new_order=[2, 0]", {"uint8 FW [[1, 2], [3, 4], [5, 6]]"}, {"uint8 [[5, 6], [1, 2]]"}},
        {"new_order=[0, 0]", {"int16 F [7]"}, {"int16 [7, 7]"}},
        {"new_order=[0, 1, 1, 0]", {"float32 [0.5, 1.5]"}, {"float32 [0.5, 1.5, 1.5, 0.5]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::SequenceRearrange)
