// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/convert.h"
#include "kernels/elements/boxes.h"
#include "kernels/elements/draws.h"
#include "kernels/levels.h"
#include "op/arguments/shape_argument.h"
#include "op/type_of.h"

namespace stoker::ops::random {

struct Choice {
  std::optional<Small<float>> p;
  std::optional<Small<int64_t>> shape;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "random.choice",
      "Draws elements of a list, each independently of the others.\n\n"
      "The first axis of the input is the list. A whole number n of any size stands for the "
      "numbers from 0 to n - 1. The draws depend only on the pipeline's seed, the epoch and the "
      "sample.",
      ports({.name = "a", .help = "The list, or a whole number.", .is_value = true},
            {.name = "shape_like", .help = "Only its shape is used.", .is_optional = true}),
      ports({.name = "output", .help = "The drawn elements."}),
      arg(&Choice::p, "p",
          "The probability of each element, with a sum of 1; one number is that of all. Default: "
          "all are equally likely.",
          between(0, 1), kPerSample),
      arg(&Choice::shape, "shape", "Shape of the draws; default: one draw, without an axis.",
          kPerSample));

  TensorType drawn(const TensorType& a, const Shape& draws) const {
    const int rank = a.shape.rank;
    require(rank != 0 || !info(a.dtype).is_float, "the input is one number of dtype ",
            name_of(a.dtype), ", expected a whole number or a list");
    if (rank < 0 || draws.rank < 0) return {a.dtype, {}, Shape::filled(-1, 0)};
    Shape all = draws;
    require(draws.rank + std::max(rank - 1, 0) <= kMaxRank, "the output would have ",
            draws.rank + rank - 1, " axes, expected at most ", kMaxRank);
    for (int k = 1; k < rank; ++k) all.push_back(a.shape[k]);
    Layout layout;  // without the list's letter where one element is drawn
    if (rank > 0 && draws.rank == 1) layout = a.layout;
    else if (rank > 0 && draws.rank == 0 && !a.layout.empty()) layout = a.layout.str().substr(1);
    return {a.dtype, layout, all};
  }
  void check(Checker& c) const {
    require(!shape || !c.has(1), "argument 'shape' and an input exclude each other");
    Shape draws;
    if (c.has(1)) draws = c.in(1).shape;
    else if (c.is_computed("shape")) draws = Shape::filled(-1, 0);
    else draws = asked();
    c.out(drawn(c.in(), draws));
  }
  void infer(Inference& i) const {
    i.out(drawn(i.inputs[0], i.has(1) ? i.inputs[1].shape : asked()));
  }

  void run_cpu(Run& r) const {
    const View &a = r.inputs[0], &out = r.outputs[0];
    const bool is_list = a.full.rank > 0;
    const int64_t count = is_list ? a.full[0] : number(a);
    require(count > 0, "there are ", count, " elements to choose from, expected at least 1");
    const std::vector<double> ends = ends_of_shares(count);
    const int64_t size = size_of(a.dtype);
    const int64_t bytes = is_list ? a.bytes() / count : size;
    const int64_t draws = bytes ? out.full.volume() * size / bytes : 0;
    auto* list = r.scratch.array<std::byte>(static_cast<size_t>(a.bytes()));
    auto* made = r.scratch.array<std::byte>(static_cast<size_t>(draws * bytes));
    copy_to_dense(a, list);
    int64_t chosen[kSome];
    for (int64_t first = 0; first < draws; first += kSome) {
      const std::span some(chosen, static_cast<size_t>(std::min(kSome, draws - first)));
      choose(r.chance, first, count, ends, some);
      std::byte* to = made + first * bytes;
      if (is_list) take(list, bytes, some, to);
      else convert_row(chosen, DType::kInt64, to, a.dtype, std::ssize(some));
    }
    copy_window(View::dense(made, out.dtype, out.full), out);
  }

  static std::vector<Case> cases() {
    return {
        {"", {"int32 1"}, {"int32 0"}},
        {"shape=[2]", {"float32 [[0.5, 1.5]]"}, {"float32 [[0.5, 1.5], [0.5, 1.5]]"}},
        {"p=[0.0, 1.0, 0.0]", {"uint8 [7, 8, 9]", "float32 [0, 0]"}, {"uint8 [8, 8]"}},
    };
  }

 private:
  Shape asked() const { return shape_asked(shape, Checker{{}, {}, {}, {}}); }
  static int64_t number(const View& a) {
    int64_t n = 0;
    convert_row(a.data, a.dtype, &n, DType::kInt64, 1);
    return n;
  }
  static constexpr int64_t kSome = 1024;
  // The numbers of the elements that draw `first` and the following choose.
  static void choose(const Chance& chance, int64_t first, int64_t count,
                     const std::vector<double>& ends, std::span<int64_t> chosen) {
    if (count > int64_t{1} << 32) return choose_of_many(chance, first, count, chosen);
    alignas(64) uint32_t draws[kSome];
    draw_words(chance, static_cast<uint64_t>(first), draws, std::ssize(chosen));
    at_cpu_level(
        [&draws, to = chosen.data(), n = chosen.size(), all = static_cast<uint64_t>(count)] {
          for (size_t k = 0; k < n; ++k) to[k] = static_cast<int64_t>(draws[k] * all >> 32);
        });
    for (size_t k = 0; !ends.empty() && k < chosen.size(); ++k)
      chosen[k] = std::upper_bound(ends.begin(), ends.end() - 1, draws[k] * 0x1p-32) - ends.begin();
  }
  // Of more elements than a word has values: two words are a draw, the lower one first.
  static void choose_of_many(const Chance& chance, int64_t first, int64_t count,
                             std::span<int64_t> chosen) {
    __extension__ using Wide = unsigned __int128;
    uint32_t words[2 * kSome];
    draw_words(chance, 2 * static_cast<uint64_t>(first), words, 2 * std::ssize(chosen));
    for (size_t k = 0; k < chosen.size(); ++k) {
      const uint64_t draw = words[2 * k] | uint64_t{words[2 * k + 1]} << 32;
      chosen[k] = static_cast<int64_t>(Wide{draw} * static_cast<uint64_t>(count) >> 64);
    }
  }
  // Copies the chosen elements, of so many bytes each, one behind the other.
  static void take(const std::byte* list, int64_t bytes, std::span<const int64_t> chosen,
                   std::byte* to) {
    const auto copy = [&](auto size) {
      for (size_t k = 0; k < chosen.size(); ++k)
        std::memcpy(to + static_cast<int64_t>(k) * size, list + chosen[k] * size,
                    static_cast<size_t>(size));
    };
    switch (bytes) {
      case 1: return copy(std::integral_constant<int64_t, 1>());
      case 2: return copy(std::integral_constant<int64_t, 2>());
      case 4: return copy(std::integral_constant<int64_t, 4>());
      case 8: return copy(std::integral_constant<int64_t, 8>());
      default: return copy(bytes);
    }
  }
  // For each element the sum of the probabilities up to it; none where all are alike.
  std::vector<double> ends_of_shares(int64_t count) const {
    std::vector<double> ends;
    if (!p) return ends;
    require_count("argument 'p'", p->size(), {1, count}, "one per element or one for all");
    const bool are_alike = p->size() == 1;
    double sum = are_alike ? static_cast<double>((*p)[0]) * static_cast<double>(count) : 0;
    if (!are_alike)
      for (float share : *p) ends.push_back(sum += static_cast<double>(share));
    require(sum > 0.99 && sum < 1.01, "the sum of argument 'p' is ", sum, ", expected 1");
    for (double& end : ends) end /= sum;
    return ends;
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::Choice)
