// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/filled.cuh"

namespace stoker::ops::inspect {

struct Shapes {
  DType dtype = DType::kInt64;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema =
      describe("shapes",
               "Gives the extents of a tensor, as a list with one number for each axis.\n\n"
               "The values of the tensor do not matter, so what makes only them does no work.",
               ports({.name = "input", .help = "Any tensor."}),
               ports({.name = "output", .help = "The extents, the outermost axis first."}),
               arg(&Shapes::dtype, "dtype", "Dtype of the output."));

  void check(Checker& c) const { c.out({dtype, {}, {c.in().shape.rank}}); }
  void infer(Inference& i) const { i.out({dtype, {}, {i.inputs[0].shape.rank}}); }
  void demand(Demand& d) const { d.needed[0].end = d.needed[0].begin; }

  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    Shape extents = r.inputs[0].full;
    convert_row(extents.extent + out.origin[0], DType::kInt64, out.data, out.dtype, out.shape[0]);
  }
  static void run_gpu(GpuRun& r, std::span<const Shapes* const>) {
    std::vector<std::array<int64_t, kMaxRank>> all(r.items.size());
    for (size_t i = 0; i < r.items.size(); ++i)
      std::copy_n(r.items[i].inputs[0].full.extent, kMaxRank, all[i].data());
    const std::array<int64_t, kMaxRank>* there = r.put(std::span(std::as_const(all)));
    std::vector<Put> puts;
    for (size_t i = 0; i < r.items.size(); ++i) {
      const View& out = r.items[i].outputs[0];
      puts.push_back(
          {there[i].data(), out.as<std::byte>(), out.dtype, size_of(out.dtype), out.shape[0]});
    }
    run_each(r, std::span<const Put>(puts));
  }
  struct Put {
    const int64_t* from;
    std::byte* to;
    DType dtype;
    int64_t bytes;  // of an element
    int64_t pieces;
    STOKER_HD void run(int64_t k) const {
      const auto value = static_cast<uint64_t>(from[k]);
      with_type(dtype, StoreAs{to + k * bytes, &value, DType::kInt64});
    }
  };

  static std::vector<Case> cases() {
    return {
        {"", {"uint8 HWC [[[1, 2, 3]], [[4, 5, 6]]]"}, {"int64 [2, 1, 3]"}},
        {"dtype=types.FLOAT", {"int32 [1, 2]"}, {"float32 [2.0]"}},
        {"", {"int32 5"}, {"int64 []"}},
    };
  }
};

}  // namespace stoker::ops::inspect

STOKER_OPERATOR(stoker::ops::inspect::Shapes)
