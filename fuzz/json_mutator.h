// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For targets that read JSON: libFuzzer changes a value, an entry or a text of it, so that mostly
// JSON comes out. One input in eight, and whatever is no JSON, is changed as plain bytes.
#pragma once
#include <algorithm>
#include <random>

#include "graph/saved_value.h"
#include "op/type_of.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace stoker::fuzz {

// The names of operators, arguments, dtypes and enumerators, and layouts.
inline const std::vector<std::string>& words() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list = {"cpu", "gpu", "mixed", "HWC", "CHW", "FHWC", "HW", "F"};
    for (int d = 0; d <= static_cast<int>(DType::kNone); ++d)
      list.emplace_back(name_of(static_cast<DType>(d)));
    for (const OperatorType& type : all_operators()) {
      list.push_back(type.name);
      for (const ArgumentInfo& a : type.arguments) {
        list.push_back(a.name);
        list.insert(list.end(), a.names.begin(), a.names.end());
      }
    }
    return list;
  }();
  return all;
}

class JsonMutator {
 public:
  JsonMutator(Json& root, unsigned seed) : random_(seed) { collect(root); }

  void mutate() {
    Json& at = *one_of(values_);
    const Json other = *one_of(values_);
    switch (below(6)) {
      case 0: at = other; break;
      case 1: at = odd_value(); break;
      case 2: add(at, below(2) ? other : odd_value()); break;
      case 3: erase(at); break;
      default: change(at);
    }
  }

 private:
  void collect(Json& json) {
    values_.push_back(&json);
    if (json.is_structured())
      for (Json& part : json) collect(part);
  }
  size_t below(size_t end) { return random_() % end; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  Json odd_value() {
    static const Json odd = Json::parse(R"([null, true, false, 0, 1, 2, 3, -1, 0.5, 1.5, -0.0, 255,
        1e9, 1e38, 1e39, 1e300, 1e-300, 2147483647, 2147483648, 4294967296, 9007199254740993,
        9223372036854775807, -9223372036854775808, 18446744073709551615, "", "*", [], {}, [0, 0],
        [1, 2, 3], [0.5, "a"], {"float": "inf"}, {"float": "-inf"}, {"float": "nan"},
        {"percent": "%FF"}])");
    return odd[below(odd.size())];
  }
  void add(Json& at, const Json& value) {
    if (at.is_object()) at[one_of(words())] = value;
    else if (at.is_array()) at.insert(at.begin() + static_cast<long>(below(at.size() + 1)), value);
    else at = Json::array({value});
  }
  void erase(Json& at) {
    if (!at.empty() && at.is_structured())
      at.erase(std::next(at.begin(), static_cast<long>(below(at.size()))));
  }
  void change(Json& at) {
    if (at.is_number_integer()) at = static_cast<int64_t>(at.get<uint64_t>() + below(9) - 4);
    else if (at.is_number()) at = at.get<double>() * (static_cast<double>(below(9)) - 4) / 2;
    else if (at.is_boolean()) at = !at.get<bool>();
    else if (at.is_string()) at = below(3) ? one_of(words()) : changed(at.get<std::string>());
    else add(at, odd_value());
  }
  static std::string changed(std::string text) {
    const size_t size = text.size();
    text.resize(size + 8);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(text.data()), size, text.size()));
    return valid_utf8(text);
  }

  std::minstd_rand random_;
  std::vector<Json*> values_;
};

inline size_t mutate_json(uint8_t* data, size_t size, size_t most, unsigned seed) {
  Json root = Json::parse(data, data + size, nullptr, false);
  if (root.is_discarded() || seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  JsonMutator(root, seed).mutate();
  const std::string text = root.dump();
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

}  // namespace stoker::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return stoker::fuzz::mutate_json(data, size, most, seed);
}
