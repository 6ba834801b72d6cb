// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/map.h"
#include "op/arithmetic/selection.h"
#include "op/loops/gpu_blocks.cuh"
#include "op/type_of.h"

namespace stoker::ops::layout {

struct Subscript {
  struct Same {
    template <class T>
    STOKER_HD T operator()(T v) const {
      return v;
    }
  };

  std::string selection;
  Small<int64_t> indices;
  std::shared_ptr<const Selection> made;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "subscript",
      "Takes a part of a tensor, as x[...] does in Python.\n\n"
      "The selection is the text in the brackets: numbers, ranges such as 1:-1:2, ... and newaxis. "
      "Negative numbers count from the end, ranges are cut at the edges, and a number beyond them "
      "is an error. A number removes its axis, newaxis inserts one of extent 1, and the result "
      "then has no layout. $0, $1, ... stand for the computed numbers in the argument indices.",
      ports({.name = "input", .help = "Any tensor."}),
      ports({.name = "output", .help = "The part."}),
      arg(&Subscript::selection, "selection", "What is taken, such as \"0, ..., 1:$0\".",
          kRequired),
      arg(&Subscript::indices, "indices", "What $0, $1, ... stand for.", kPerSample));

  void check(Checker& c) const {
    const Selection s = Selection::read(selection);
    c.out(s.type(c.in(), c.is_computed("indices") ? nullptr : &indices));
  }
  void prepare() { made = std::make_shared<const Selection>(Selection::read(selection)); }
  void infer(Inference& i) const { i.out(made->type(i.inputs[0], &indices)); }
  void demand(Demand& d) const {
    d.needed[0] = made->part(d.inputs[0].shape, indices).needed(d.wanted[0]);
  }

  // A part with all axes of the tensor.
  bool lowers(std::span<const TensorType>) const { return made->keeps_axes(); }
  void lower(Lowering& l) const {
    const TensorType in = l.type();
    made->type(in, &indices);  // refuses what is wrong for this sample
    const Part part = made->part(in.shape, indices);
    Gather g;
    for (int a = 0; a < in.shape.rank; ++a)
      g.axis[a] = {part.axis[a].start, part.axis[a].step, part.type.shape[a]};
    l.add(g, in.dtype);
  }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    const View from = made->part(r.inputs[0].full, indices).seen(r.inputs[0], out);
    with_size(size_of(out.dtype), [&]<class T>(T) { map<T, T>(out, Same{}, from); });
  }
  static void run_gpu(GpuRun& r, std::span<const Subscript* const> items) {
    const auto part = [&](size_t i) {
      const View& in = r.items[i].inputs[0];
      return items[i]->made->part(in.full, items[i]->indices).seen(in, r.items[i].outputs[0]);
    };
    copy_each(r, part, [&](size_t i) { return r.items[i].outputs[0]; });
  }

  static std::vector<Case> cases() {
    return {
        {"selection=\"1\"", {"int32 AB [[1, 2], [3, 4]]"}, {"int32 [3, 4]"}},
        {"selection=\"..., ::-1\"", {"uint8 HW [[1, 2, 3]]"}, {"uint8 [[3, 2, 1]]"}},
        {"selection=\"newaxis C, 1:\"", {"int32 H [1, 2]"}, {"int32 [[2]]"}},
        {"selection=\":, newaxis, -1\"", {"float32 [[1, 2], [3, 4]]"}, {"float32 [[2], [4]]"}},
        {"selection=\"$0:$1\", indices=[1, 3]", {"int16 [0, 1, 2, 3]"}, {"int16 [1, 2]"}},
    };
  }
};

}  // namespace stoker::ops::layout

STOKER_OPERATOR(stoker::ops::layout::Subscript)
