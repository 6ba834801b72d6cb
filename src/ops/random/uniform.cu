// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/fill.h"
#include "op/arguments/shape_argument.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::random {

struct Uniform {
  // The draw of one element: from the range or, if count > 0, from the list.
  struct Draw {
    static constexpr int kDraws = 1, kValues = 1;
    float low, high;
    const float* values;
    uint64_t count;

    STOKER_HD void operator()(const uint32_t* draw, float* value) const {
      *value = count == 0 ? uniform_of(*draw, low, high) : values[*draw * count >> 32];
    }
  };

  Small<float> range = {-1, 1};
  std::optional<Small<float>> values;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "random.uniform",
      "Draws evenly from a range or from a list of values.\n\n"
      "Gives a scalar, or a tensor of independent draws with the shape that an argument or an "
      "input gives. The end of the range is never drawn, but integer dtypes, which round to the "
      "nearest, may give it. The draws depend only on the pipeline's seed, the epoch and the "
      "sample.",
      ports({.name = "shape_like", .help = "Only its shape is used.", .is_optional = true}),
      ports({.name = "output", .help = "The draws."}),
      arg(&Uniform::range, "range", "The range to draw from, (low, high).", kPerSample),
      arg(&Uniform::values, "values", "Draw one of these values instead, each equally likely.",
          kPerSample),
      arg(&Uniform::shape, "shape", "Shape of the output; default: a scalar.", kPerSample),
      arg(&Uniform::dtype, "dtype",
          "Output dtype; default: FLOAT. Values are rounded and saturate."));

  void check(Checker& c) const {
    require_lists();
    c.out({dtype.value_or(DType::kFloat32), {}, shape_asked(shape, c)});
  }

  void infer(Inference& i) const {
    require_lists();
    i.out({dtype.value_or(DType::kFloat32), {}, shape_asked(shape, i)});
  }

  void run_cpu(Run& r) const {
    fill_draws<float>(r.outputs[0], r.chance, draw(values ? values->data() : nullptr));
  }

  static void run_gpu(GpuRun& r, std::span<const Uniform* const> items) {
    std::vector<float> lists;  // the values of all items; a list that they share is there once
    std::vector<size_t> starts;
    const float* last = nullptr;
    for (const Uniform* u : items) {
      const float* list = u->values ? u->values->data() : nullptr;
      starts.push_back(list && list == last ? starts.back() : lists.size());
      if (list && list != last) lists.insert(lists.end(), list, list + u->values->size());
      last = list;
    }
    const float* put = lists.empty() ? nullptr : r.put(std::span<const float>(lists));
    fill_draws<float>(r, [&](size_t i) { return items[i]->draw(put + starts[i]); });
  }

  static std::vector<Case> cases() {
    return {
        {"range=[3.0, 3.0]", {}, {"float32 3.0"}},
        {"values=[7.0], shape=[2], dtype=types.INT64", {}, {"int64 [7, 7]"}},
        {"values=[-0.5]", {"uint8 HW [[1, 2]]"}, {"float32 [[-0.5, -0.5]]"}},
    };
  }

 private:
  Draw draw(const float* list) const {
    return {range[0], range[1], list, values ? values->size() : 0};
  }

  void require_lists() const {
    constexpr float kMax = std::numeric_limits<float>::max();
    require_count("argument 'range'", range.size(), {2}, "(low, high)");
    require(-kMax <= range[0] && range[0] <= range[1] && range[1] <= kMax,
            "argument 'range' takes two finite numbers, the lower one first, got ", range);
    require(!values || !values->empty(), "argument 'values' is empty");
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::Uniform)
