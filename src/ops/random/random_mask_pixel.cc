// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"
#include "kernels/elements/boxes.h"
#include "op/type_of.h"

namespace stoker::ops::random {

struct RandomMaskPixel {
  int foreground = 0;
  float threshold = 0;
  std::optional<int> value;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "segmentation.random_mask_pixel",
      "Draws a position in a mask.\n\n"
      "Gives the position along each axis, as int64. All positions are equally likely or, with "
      "foreground=1, all those of the foreground; where a mask has none, all positions.",
      ports({.name = "input",
             .help = "Any mask.",
             .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32, bool"}),
      ports({.name = "position", .help = "The drawn position."}),
      arg(&RandomMaskPixel::foreground, "foreground",
          "Whether the position lies in the foreground: 0 or 1.", between(0, 1), kPerSample),
      arg(&RandomMaskPixel::threshold, "threshold",
          "What is more than this is the foreground. Excludes value.", kPerSample),
      arg(&RandomMaskPixel::value, "value", "What has this value is the foreground.", kPerSample));

  void check(Checker& c) const {
    require(!(value || c.is_computed("value")) || (threshold == 0 && !c.is_computed("threshold")),
            "arguments 'value' and 'threshold' do not go together");
    const int rank = c.in().shape.rank;
    c.out({DType::kInt64, {}, {rank}});
  }
  void infer(Inference& i) const {
    const Shape& s = i.inputs[0].shape;
    require(s.volume() > 0, "the mask has the shape ", s, ", expected one that is not empty");
    i.out({DType::kInt64, {}, {s.rank}});
  }

  void run_cpu(Run& r) const {
    const View& in = with_dense_rows(r.inputs[0], 0, r.scratch);
    const int64_t all = in.full.volume();
    int64_t at = -1;
    with_type(in.dtype, [&](auto v) {
      using T = decltype(v);
      const T* mask = in.as<T>();
      if (!foreground) return;
      if (value) at = draw(mask, all, Equals{static_cast<double>(*value)}, r.chance);
      else at = draw(mask, all, Above{static_cast<double>(threshold)}, r.chance);
    });
    if (at < 0) at = r.chance.uniform_int(all);
    int64_t position[kMaxRank];
    for (int a = in.full.rank - 1; a >= 0; --a) {
      position[a] = at % in.full[a];
      at /= in.full[a];
    }
    copy_window(View::dense(position, DType::kInt64, {in.full.rank}), r.outputs[0]);
  }

  static std::vector<Case> cases() {
    return {
        {"foreground=1", {"uint8 HW [[0, 0, 0], [0, 7, 0]]"}, {"int64 [1, 1]"}},
        {"foreground=1, value=2", {"int32 [[1, 2]]"}, {"int64 [0, 1]"}},
        {"foreground=1, threshold=1.5", {"float32 [1.5, 1, 1.75]"}, {"int64 [2]"}},
        {"", {"uint8 [[[5]]]"}, {"int64 [0, 0, 0]"}},
    };
  }

 private:
  struct Equals {
    double value;
    bool operator()(double v) const { return v == value; }
    // A number that float does not hold is no narrow type's.
    bool operator()(float v) const { return v == static_cast<float>(value) && is_exact(); }
    bool is_exact() const { return static_cast<double>(static_cast<float>(value)) == value; }
  };
  struct Above {
    double threshold;
    bool operator()(double v) const { return v > threshold; }
    bool operator()(float v) const { return v > static_cast<float>(threshold); }
  };
  // The number of one of the elements that are chosen, or -1 where none is.
  template <class T, class Chosen>
  static int64_t draw(const T* mask, int64_t n, const Chosen& is_chosen, Chance& chance) {
    using A = Arithmetic<T, T>;  // float holds all numbers of narrow types
    constexpr int64_t kPart = 4096;
    std::vector<int32_t> counts(static_cast<size_t>((n + kPart - 1) / kPart));
    at_cpu_level([=, parts = counts.data()] {
      for (int64_t begin = 0; begin < n; begin += kPart) {
        int32_t some = 0;
        for (int64_t k = begin; k < std::min(begin + kPart, n); ++k)
          some += is_chosen(convert<A>(mask[k]));
        parts[begin / kPart] = some;
      }
    });
    int64_t count = 0;
    for (int32_t some : counts) count += some;
    if (count == 0) return -1;
    int64_t rest = chance.uniform_int(count), k = 0;
    for (int32_t some : counts) {
      if (rest < some) break;
      rest -= some, k += kPart;
    }
    while (!is_chosen(convert<A>(mask[k])) || rest-- > 0) ++k;
    return k;
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::RandomMaskPixel)
