// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/mixing.h"
#include "op/type_of.h"

namespace stoker::ops::batch {

struct BatchPermutation {
  bool allow_repetitions = false, no_fixed_points = false;

  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "batch_permutation",
      "Draws an order of the samples of a batch, for permute_batch.\n\n"
      "Each sample gets a number from 0 to one less than the number of samples, without those that "
      "failed before. All orders that the arguments allow are equally likely.",
      ports({.name = "batch",
             .help = "Only its samples count, not their values: in a branch those of the branch, "
                     "and behind operators that may fail those that are left.",
             .is_optional = true}),
      ports({.name = "indices", .help = "Which sample comes to the place, int32."}),
      arg(&BatchPermutation::allow_repetitions, "allow_repetitions",
          "Whether numbers are drawn one by one, so that some may come several times and others "
          "not at all."),
      arg(&BatchPermutation::no_fixed_points, "no_fixed_points",
          "Whether no sample may get its own number. No effect on a batch of one sample."));

  void check(Checker& c) const { c.out({DType::kInt32, {}, {}}); }
  static void infer_batch(BatchInference& b, std::span<const BatchPermutation* const>) {
    for (auto& item : b.items) item.outputs = {{DType::kInt32, {}, {}}};
  }
  static void run_batch(BatchRun& r, std::span<const BatchPermutation* const> ops) {
    Chance chance = shared_chance(r.items[0].chance, kOrderDraws);
    const std::vector<int64_t> order = ops[0]->draw(chance, static_cast<int64_t>(r.items.size()));
    for (size_t i = 0; i < order.size(); ++i)
      *r.items[i].outputs[0].as<int32_t>() = static_cast<int32_t>(order[i]);
  }

  static std::vector<Case> cases() {
    return {
        {"", {}, {"int32 0"}},
        {"no_fixed_points=True", {"uint8 [7, 8]"}, {"int32 0"}},
        {"allow_repetitions=True", {"float32 HW [[7, 8]]"}, {"int32 0"}},
    };
  }

 private:
  std::vector<int64_t> draw(Chance& chance, int64_t n) const {
    const bool moves_all = no_fixed_points && n > 1;
    if (!allow_repetitions) {
      // About every third order has no fixed point.
      for (;;) {
        std::vector<int64_t> order = permutation(chance, n);
        bool stays = false;
        for (int64_t i = 0; i < n; ++i) stays = stays || order[static_cast<size_t>(i)] == i;
        if (!moves_all || !stays) return order;
      }
    }
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t drawn = chance.uniform_int(moves_all ? n - 1 : n);
      numbers.push_back(moves_all && drawn >= i ? drawn + 1 : drawn);
    }
    return numbers;
  }
};

}  // namespace stoker::ops::batch

STOKER_OPERATOR(stoker::ops::batch::BatchPermutation)
