// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/frames.cuh"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct ElementExtract {
  Small<int64_t> element_map;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema =
      describe("element_extract",
               "Takes frames out of a sequence, with one output for each.\n\n"
               "A layout begins with F, which the outputs do not have.",
               ports({.name = "input", .help = "A sequence of any dtype."}),
               ports({.name = "frames", .help = "A frame.", .for_each = "element_map"}),
               arg(&ElementExtract::element_map, "element_map",
                   "The numbers of the frames; at least one.", at_least(0), kRequired));

  TensorType frame(const TensorType& in) const {
    require_sequence(in);
    if (in.shape.rank < 0) return {in.dtype, {}, in.shape};
    for (int64_t f : element_map)
      require(in.shape[0] < 0 || f < in.shape[0], "argument 'element_map' has frame ", f,
              " of a sequence of ", in.shape[0], " frames");
    const Layout layout = in.layout.empty() ? Layout() : Layout(in.layout.str().substr(1));
    return {in.dtype, layout, View::without_first(in.shape)};
  }
  void check(Checker& c) const {
    for (size_t k = 0; k < element_map.size(); ++k) c.out(frame(c.in()));
  }
  void infer(Inference& i) const {
    for (size_t k = 0; k < element_map.size(); ++k) i.out(frame(i.inputs[0]));
  }

  void add_copies(const View& in, std::span<const View> outputs,
                  std::vector<JoinedInput>& copies) const {
    for (size_t k = 0; k < element_map.size(); ++k) {
      const View from = one_frame(in, element_map[k]);
      if (const JoinedInput copy(from, as_sequence(outputs[k]), 0, 0); copy.runs.bytes > 0)
        copies.push_back(copy);
    }
  }
  void run_cpu(Run& r) const {
    std::vector<JoinedInput> copies;
    add_copies(r.inputs[0], r.outputs, copies);
    for (const JoinedInput& c : copies) copy_runs(c.runs, c.from, c.to);
  }
  static void run_gpu(GpuRun& r, std::span<const ElementExtract* const> items) {
    std::vector<JoinedInput> copies;
    for (size_t i = 0; i < items.size(); ++i)
      items[i]->add_copies(r.items[i].inputs[0], r.items[i].outputs, copies);
    run_each(r, std::span<const JoinedInput>(copies));
  }

  static std::vector<Case> cases() {
    return {
        {"element_map=[2, 0]",
         {"uint8 FW [[1, 2], [3, 4], [5, 6]]"},
         {"uint8 [5, 6]", "uint8 [1, 2]"}},
        {"element_map=[0]", {"int16 FW [[7, 8]]"}, {"int16 [7, 8]"}},
        {"element_map=[1]", {"float32 [0.5, 1.5]"}, {"float32 1.5"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::ElementExtract)
