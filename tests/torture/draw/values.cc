// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include "op/case_testing.h"

namespace stoker::torture {

namespace {

bool is_list(const ArgumentInfo& a) { return a.type.starts_with("Sequence["); }

std::string element_type(const ArgumentInfo& a) {
  return is_list(a) ? a.type.substr(9, a.type.size() - 10) : a.type;
}

bool is_number(const std::string& type) { return type == "int" || type == "float"; }

double moderate_number(Dice& dice, const ArgumentInfo& a) {
  const Moderate m = moderate(a);
  const double share = dice.of({0.0, 1.0, 0.5, 0.25, dice.share()});
  const double x = m.low + share * (m.high - m.low);
  return m.whole || dice.often(0.3) ? std::min(std::ceil(x), m.high) : x;
}

double odd_number(Dice& dice, const ArgumentInfo& a) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double step = dice.of({1.0, 0.001, 1e6});
  return dice.of({a.range.low - step, a.range.high + step, -1.0, 1e5, 2147483647.0, -2147483648.0,
                  4294967296.0, 9007199254740993.0, 1e18, 1e38, 1e300, 1e-300, -1e18, kInf, -kInf,
                  std::numeric_limits<double>::quiet_NaN()});
}

Value number_value(const std::string& type, double x) {
  if (type == "int" && std::abs(x) < 0x1p62) return static_cast<int64_t>(x);
  return x;
}

std::string draw_text(Dice& dice) {
  return dice.of({"HWC", "CHW", "HW", "W", "H", "F", "FHWC", "C", "", "XYZXYZXYZ", "HH", "*",
                  "\x01", "no_such_thing"});
}

Value draw_one(Dice& dice, const ArgumentInfo& a, const std::string& type, bool odd) {
  if (!a.names.empty()) return odd && dice.often(0.3) ? draw_text(dice) : dice.of(a.names);
  if (type == "bool") return dice.often(0.5);
  if (type == "DType") {
    if (odd && dice.often(0.3)) return draw_text(dice);
    const int64_t dtype = dice.below(static_cast<int64_t>(DType::kNone) + 1);
    return std::string(name_of(static_cast<DType>(dtype)));
  }
  if (is_number(type))
    return number_value(type, odd ? odd_number(dice, a) : moderate_number(dice, a));
  return draw_text(dice);
}

Value draw_list(Dice& dice, const ArgumentInfo& a, const std::string& type, bool odd) {
  const int64_t size = odd ? dice.of({0, 1, 2, 3, 4, 7, 40}) : dice.of({1, 1, 2, 2, 2, 3, 4});
  if (!is_number(type)) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < size; ++i) texts.push_back(draw_text(dice));
    return texts;
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < size; ++i)
    numbers.push_back(odd && dice.often(0.5) ? odd_number(dice, a) : moderate_number(dice, a));
  if (type == "float" ||
      std::any_of(numbers.begin(), numbers.end(), [](double x) { return !(std::abs(x) < 0x1p62); }))
    return numbers;
  return std::vector<int64_t>(numbers.begin(), numbers.end());
}

// Something that no argument of this type takes.
Value of_another_type(Dice& dice) {
  const double x = dice.share();
  if (x < 0.2) return {};
  if (x < 0.4) return std::string("text");
  if (x < 0.6) return std::vector<double>{0.5, -1e30};
  if (x < 0.8) return std::vector<std::string>{"a", "b"};
  return 0.5;
}

Arguments base(Dice& dice, const OperatorType& type) {
  Arguments of_case;
  if (!type.cases.empty()) of_case = test::Text(dice.of(type.cases).call).arguments();
  if (dice.often(0.6)) return of_case;
  Arguments required;
  for (const ArgumentInfo& a : type.arguments) {
    if (!a.is_required) continue;
    const auto it = of_case.find(a.name);
    required[a.name] = it != of_case.end() ? it->second : draw_value(dice, a, false);
  }
  return required;
}

}  // namespace

Moderate moderate(const ArgumentInfo& a) {
  Moderate m{std::max(a.range.low, -4.0), 0, element_type(a) != "float"};
  if (!a.names.empty()) return {0, static_cast<double>(a.names.size()) - 1, true};
  if (element_type(a) == "bool") return {0, 1, true};
  m.low = std::min(m.low, a.range.high);
  m.high = std::min(a.range.high, std::max(m.low, 0.0) + 12);
  if (m.whole) m.low = std::ceil(m.low), m.high = std::floor(m.high);
  return m;
}

Value draw_value(Dice& dice, const ArgumentInfo& a, bool odd) {
  if (odd && dice.often(0.1)) return of_another_type(dice);
  if (!odd && !a.is_required && dice.often(0.1)) return a.fallback;
  const std::string type = element_type(a);
  const bool as_list = is_list(a) != (odd && dice.often(0.1));
  return as_list ? draw_list(dice, a, type, odd) : draw_one(dice, a, type, odd);
}

Arguments draw_arguments(Dice& dice, const OperatorType& type) {
  Arguments drawn = base(dice, type);
  if (type.arguments.empty()) return drawn;
  for (int64_t changes = dice.of({0, 0, 1, 1, 2, 4}); changes > 0; --changes) {
    const ArgumentInfo& a = dice.of(type.arguments);
    const bool odd = dice.often(0.12);
    if (dice.often(0.15)) drawn.erase(a.name);
    else drawn[a.name] = draw_value(dice, a, odd);
  }
  if (dice.often(0.05)) drawn["seed"] = dice.between(-2, 5);
  return drawn;
}

}  // namespace stoker::torture
