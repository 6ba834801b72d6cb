// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/rules.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "op/type_of.h"

namespace stoker {
namespace {

TEST(Rules, WordsAreWrittenAsInPython) {
  EXPECT_EQ(message<WrongCall>([] { require(true, "never"); }), "nothing was thrown");
  EXPECT_EQ(message<WrongCall>([] {
              require(false, "a ", 'b', " ", 0.1f, " ", int64_t{3}, " ", Layout("HWC"), " ",
                      Shape{2, 1}, " ", DType::kInt8, " ", Small<float>{1, 0.5f});
            }),
            "a b 0.1 3 'HWC' (2, 1) 'int8' [1.0, 0.5]");
}

TEST(Rules, CountsNameWhatIsExpected) {
  const auto mean = [](size_t count, int64_t channels) {
    return message<WrongCall>([&] {
      require_count("argument 'mean'", count, {1, channels}, "one per channel of ", Layout("HWC"));
    });
  };
  EXPECT_EQ(mean(1, 3), "nothing was thrown");
  EXPECT_EQ(mean(3, 3), "nothing was thrown");
  EXPECT_EQ(mean(2, 3), "argument 'mean' has 2 values, expected 1 or 3, one per channel of 'HWC'");
  EXPECT_EQ(mean(2, 1), "argument 'mean' has 2 values, expected 1, one per channel of 'HWC'");
  EXPECT_EQ(message<WrongCall>([] { require_count("input 'anchor'", 1, {2}, "one per axis"); }),
            "input 'anchor' has 1 value, expected 2, one per axis");
}

// An operator that breaks a rule wherever it is called.
struct Ruled {
  static constexpr auto schema =
      describe("ruled", "A test.", ports({.name = "input"}), ports({.name = "output"}));
  void check(Checker&) const { require(false, "never"); }
  void infer(Inference&) const { require(false, "never"); }
  void run_cpu(Run&) const { require(false, "never"); }
};
struct RuledLowering {
  static constexpr auto schema =
      describe("ruled", "A test.", ports({.name = "input"}), ports({.name = "output"}));
  void check(Checker&) const {}
  void lower(Lowering&) const { require(false, "never"); }
};

TEST(Rules, BreakAGraphOrASample) {
  const detail::Model<Ruled> op(Arguments{});
  const detail::Model<RuledLowering> lowering(Arguments{});
  Checker checker;
  EXPECT_THROW(op.check(checker), GraphError);
  std::vector<TensorType> types;
  Kept kept;
  Inference inference{{}, {}, types, Chance(0, 0, 0, 0), kept};
  EXPECT_THROW(detail::Work<Ruled>::infer(op, inference), SampleError);
  Arena arena;
  stoker::Run run{{}, {}, Chance(0, 0, 0, 0), arena, kept};
  EXPECT_THROW(detail::Work<Ruled>::run_cpu(op, run), SampleError);
  std::vector<Block> blocks;
  std::vector<View> made;
  Lowering l({}, {}, Chance(0, 0, 0, 0), blocks, made, arena);
  EXPECT_THROW(detail::Work<RuledLowering>::lower(lowering, l), SampleError);
}

}  // namespace
}  // namespace stoker
