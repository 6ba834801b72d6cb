// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/expression.h"
#include "op/arithmetic/words.h"

namespace stoker {

namespace {

// Finds the steps of an expression, from its result down to its one input.
class StepsDown {
 public:
  StepsDown(const Expression& e, DType in) : e_(e), types_(types_of_terms(e, std::span(&in, 1))) {}

  // Empty if one of them is of another kind.
  std::vector<LinearStep> find() {
    for (int place = static_cast<int>(e_.terms.size()) - 1; e_.terms[place].input < 0;) {
      const Expression::Term& t = e_.terms[place];
      if (t.word < 0 || types_[place] != DType::kFloat32) return {};
      const int operands = kWords[t.word].operands;
      place = operands == 1 ? through_sign(t) : operands == 2 ? through_number(t) : kNone;
      if (place == kNone) return {};
    }
    return std::move(found_);
  }

 private:
  static constexpr int kNone = -1;

  // These two note the steps of an operation, and give the place of the operand that is no number.
  int through_sign(const Expression::Term& t) {
    const std::string_view text = kWords[t.word].text;
    if (text == "-") found_.push_back({'*', -1});
    else if (text != "+") return kNone;
    return t.operands[0];
  }
  int through_number(const Expression::Term& t) {
    if (is_number(t.operands[0]) == is_number(t.operands[1])) return kNone;
    const int k = is_number(t.operands[1]) ? 1 : 0;
    const float number = value(t.operands[k]);
    const std::string_view text = kWords[t.word].text;
    if (text == "+") {
      found_.push_back({'+', number});
    } else if (text == "-") {
      found_.push_back({'+', k == 1 ? -number : number});
      if (k == 0) found_.push_back({'*', -1});
    } else if (text == "*") {
      found_.push_back({'*', number});
    } else if ((text == "/" || text == "//") && k == 1) {
      found_.push_back({'/', number});
    } else {
      return kNone;
    }
    return t.operands[1 - k];
  }

  bool is_number(int place) const { return e_.terms[place].input < 0 && e_.terms[place].word < 0; }
  float value(int place) const {
    const Expression::Term& t = e_.terms[place];
    float number = 0;
    convert_row(&t.bits, computed_as(t.dtype), 8, &number, DType::kFloat32, 4, 1);
    return number;
  }

  const Expression& e_;
  std::vector<DType> types_;
  std::vector<LinearStep> found_;
};

}  // namespace

bool is_linear(const Expression& e, DType in, std::vector<LinearStep>& steps) {
  if (!is_narrow(in) || e.input_count() != 1) return false;
  const std::vector<LinearStep> found = StepsDown(e, in).find();
  steps.assign(found.rbegin(), found.rend());
  return !steps.empty();
}

void add_blocks(std::span<const LinearStep> steps, Lowering& l) {
  // The order within a block: subtract, multiply, divide, add.
  const auto place_of = [](const LinearStep& s, bool is_first) {
    return s.operation == '*' ? 2 : s.operation == '/' ? 3 : is_first ? 1 : 4;
  };
  for (size_t k = 0; k < steps.size();) {
    BlockKind kind = Pointwise{};
    auto& p = std::get<Pointwise>(kind);
    p.add = {-0.0f};  // changes nothing, not even the sign of 0
    for (int done = 0; k < steps.size(); ++k) {
      const LinearStep& s = steps[k];
      const int place = place_of(s, done == 0);
      if (place <= done) break;
      done = place;
      if (place == 1) p.sub = {-s.number};
      else if (place == 2) p.mul = {s.number};
      else if (place == 3) p.div = {s.number};
      else p.add = {s.number};
    }
    l.add(std::move(kind), DType::kFloat32);
  }
}

}  // namespace stoker
