// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A constant argument as the graph keeps it, and how it becomes an operator's member.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/small.h"
#include "base/types.h"
#include "base/view.h"

namespace stoker {

// Enumerations and dtypes are texts ("RGB", "float32"). monostate: not given, though optional.
using Value = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                           std::vector<double>, std::vector<std::string>>;
using Arguments = std::map<std::string, Value>;

std::string to_string(const Value& v);  // as Python writes it
// " Did you mean 'x'?", or "" if no name is near. Case does not matter.
std::string did_you_mean(std::string_view wrong, std::span<const std::string> names);

// The texts of an enumeration, kNames, in the order of its values, and kType, its type in Python:
// both `static constexpr const char*`, as for ImageType (op/decode/encoded_picture.h). kAlso, if
// any, lists further texts, each with its value, as for Border (op/arguments/border.h).
template <class E>
struct EnumNames;

template <class T>
inline constexpr bool kIsSmall = false;
template <class T, size_t N>
inline constexpr bool kIsSmall<Small<T, N>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// Numbers with a shape: [] for one number, one axis for a list; computed values keep theirs.
struct ShapedNumbers {
  using value_type = float;
  Shape shape;
  Small<float> values;

  const float* begin() const { return values.begin(); }
  const float* end() const { return values.end(); }
};
template <class T>
inline constexpr bool kIsShaped = std::is_same_v<T, ShapedNumbers>;
template <class T>
inline constexpr bool kIsShaped<std::optional<T>> = kIsShaped<T>;

// Among the doubles that round to this float, the one that prints shortest, which the user wrote:
// 0.1f becomes 0.1, and 0.9 of 500 pixels are 450 of them.
double shortest(float x);

// One element of a tensor. Requires: index < volume.
double element(const View& v, int64_t index);

namespace detail {

[[noreturn]] void wrong_type(const char* expected, const Value& got);
[[noreturn]] void wrong_name(const std::string& got, std::span<const char* const> names);
[[noreturn]] void wrong_element(const char* expected, double got);  // of a tensor, as SampleError

double number(const Value& v);  // bool, int or float; else wrong_type
int64_t integer(const Value& v);  // also 3.0; else wrong_type
std::vector<double> numbers(const Value& v);  // a list, or one number as a list of one
std::vector<int64_t> integers(const Value& v);
bool is_list(const Value& v);

}  // namespace detail

// The name of an argument's type in documentation and stubs. A member takes from Python:
//   bool; int, int64_t; float; std::string   bool; int; float; str
//   DType; Layout                            types.FLOAT or "float32"; "HWC"
//   an enum class with EnumNames             one of its texts
//   Small<int>, Small<float>                 a list, or one number
//   std::vector<std::string>                 a list of str, or one
//   std::optional<T>                         T, or None
template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_same_v<T, DType>) return "DType";
  else if constexpr (std::is_enum_v<T>) return EnumNames<T>::kType;
  else if constexpr (std::is_integral_v<T>) return "int";
  else if constexpr (std::is_floating_point_v<T>) return "float";
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Layout>) return "str";
  else if constexpr (kIsOptional<T>) return type_name<typename T::value_type>();
  else return "Sequence[" + type_name<typename T::value_type>() + "]";
}

template <class T>
Value to_value(const T& x) {
  if constexpr (std::is_same_v<T, bool>) return x;
  else if constexpr (std::is_same_v<T, DType>) return std::string(name_of(x));
  else if constexpr (std::is_enum_v<T>)
    return std::string(EnumNames<T>::kNames[static_cast<int>(x)]);
  else if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(x);
  else if constexpr (std::is_same_v<T, float>) return shortest(x);
  else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(x);
  else if constexpr (std::is_same_v<T, std::string>) return x;
  else if constexpr (std::is_same_v<T, Layout>) return std::string(x.str());
  else if constexpr (kIsOptional<T>) return x ? to_value(*x) : Value{};
  else if constexpr (std::is_same_v<typename T::value_type, std::string>) return x;
  else if constexpr (std::is_integral_v<typename T::value_type>)
    return std::vector<int64_t>(x.begin(), x.end());
  else {
    std::vector<double> list;
    for (auto e : x) list.push_back(shortest(static_cast<float>(e)));
    return list;
  }
}

namespace detail {

template <class T>
T narrowed(int64_t i, const Value& whole) {
  if (!std::in_range<T>(i)) wrong_type("int of this size", whole);
  return static_cast<T>(i);
}

// Throws SampleError unless the element of a tensor is a whole number that fits.
template <class T>
T whole_number(double d) {
  constexpr double kEnd = 2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
  if (!(d >= static_cast<double>(std::numeric_limits<T>::min()) && d < kEnd) ||
      d != static_cast<double>(static_cast<T>(d)))
    wrong_element("int", d);
  return static_cast<T>(d);
}

}  // namespace detail

// Throws GraphError("expects ..., got ...") when the value does not fit.
template <class T>
void from_value(const Value& v, T& x) {
  if constexpr (kIsOptional<T>) {
    const auto* text = std::get_if<std::string>(&v);
    const bool is_no_type =
        std::is_same_v<T, std::optional<DType>> && text && *text == name_of(DType::kNone);
    if (is_no_type || std::holds_alternative<std::monostate>(v)) x.reset();
    else from_value(v, x.emplace());
  } else if constexpr (std::is_same_v<T, bool>) {
    if (auto* b = std::get_if<bool>(&v)) x = *b;
    else if (auto* i = std::get_if<int64_t>(&v); i && (*i == 0 || *i == 1)) x = *i;
    else detail::wrong_type("bool", v);
  } else if constexpr (std::is_same_v<T, DType>) {
    auto* s = std::get_if<std::string>(&v);
    x = s ? dtype_named(*s) : DType::kNone;
    if (x == DType::kNone) detail::wrong_type("a dtype such as types.FLOAT or 'float32'", v);
  } else if constexpr (std::is_enum_v<T>) {
    auto* s = std::get_if<std::string>(&v);
    if (!s) detail::wrong_type(EnumNames<T>::kType, v);
    for (int i = 0; const char* name : EnumNames<T>::kNames) {
      if (*s == name) return void(x = static_cast<T>(i));
      ++i;
    }
    if constexpr (requires { EnumNames<T>::kAlso; })
      for (const auto& [name, value] : EnumNames<T>::kAlso)
        if (*s == name) return void(x = value);
    detail::wrong_name(*s, EnumNames<T>::kNames);
  } else if constexpr (std::is_integral_v<T>) {
    x = detail::narrowed<T>(detail::integer(v), v);
  } else if constexpr (std::is_floating_point_v<T>) {
    x = static_cast<T>(detail::number(v));
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Layout>) {
    auto* s = std::get_if<std::string>(&v);
    if (!s) detail::wrong_type("str", v);
    if constexpr (std::is_same_v<T, Layout>)
      if (s->size() > kMaxRank) detail::wrong_type("a layout of at most 6 axes", v);
    x = *s;
  } else if constexpr (std::is_same_v<typename T::value_type, std::string>) {
    if (auto* one = std::get_if<std::string>(&v)) return x.assign(one, one + 1);
    if (auto* none = std::get_if<std::vector<int64_t>>(&v); none && none->empty()) return x.clear();
    auto* s = std::get_if<std::vector<std::string>>(&v);
    if (!s) detail::wrong_type("a list of str", v);
    x = *s;
  } else if constexpr (kIsShaped<T>) {
    from_value(v, x.values);
    x.shape = {};
    if (detail::is_list(v)) x.shape.push_back(static_cast<int64_t>(x.values.size()));
  } else if constexpr (std::is_integral_v<typename T::value_type>) {
    x.clear();
    for (int64_t i : detail::integers(v))
      x.push_back(detail::narrowed<typename T::value_type>(i, v));
  } else {
    x.clear();
    for (double d : detail::numbers(v)) x.push_back(static_cast<typename T::value_type>(d));
  }
}

// Whether from_tensor() can set a T from a computed value. Texts cannot be computed.
template <class T>
constexpr bool kFromTensor = !std::is_same_v<T, std::string> && !std::is_same_v<T, Layout> &&
                             !std::is_same_v<T, DType> && !kIsVector<T>;

template <class T>
void from_tensor(const View& v, T& x) {
  const int64_t n = v.shape.volume();
  if constexpr (kIsOptional<T>) {
    if constexpr (kFromTensor<typename T::value_type>) return from_tensor(v, x.emplace());
    throw SampleError("cannot be computed by another operator");
  } else if constexpr (kIsShaped<T>) {
    from_tensor(v, x.values);
    x.shape = v.shape;
  } else if constexpr (kIsSmall<T>) {
    using E = typename T::value_type;
    x.clear();
    for (int64_t i = 0; i < n; ++i) {
      const double d = element(v, i);
      if constexpr (std::is_integral_v<E>) x.push_back(detail::whole_number<E>(d));
      else x.push_back(static_cast<E>(d));
    }
  } else if constexpr (kFromTensor<T>) {
    if (n != 1) throw SampleError("expects one number, got a tensor of shape " + v.shape.str());
    const double d = element(v, 0);
    if constexpr (std::is_enum_v<T>) {
      const int i = detail::whole_number<int>(d);
      if (i < 0 || i >= static_cast<int>(std::size(EnumNames<T>::kNames)))
        detail::wrong_element("the number of an enumerator", d);
      x = static_cast<T>(i);
    } else if constexpr (std::is_same_v<T, bool>) {
      x = d != 0;
    } else if constexpr (std::is_integral_v<T>) {
      x = detail::whole_number<T>(d);
    } else {
      x = static_cast<T>(d);
    }
  } else {
    throw SampleError("cannot be computed by another operator");
  }
}

}  // namespace stoker
