// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads what was saved as JSON, a graph or a state, and may have been cut or edited since. What is
// wrong is said with its place, in Stoker's own words. Immutable.
#pragma once
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace stoker {

using Json = nlohmann::ordered_json;

// What is wrong with a saved text, as the end of a sentence: "nodes[3].op expects a text, got 5".
// Whoever reads the text makes it an error of his own.
struct Damage : Error {
  using Error::Error;
};

// Throws Damage for what is no JSON, for more than 1 GiB, for lists and objects nested more than 64
// deep, and for an object of more than 4096 entries, because objects are searched entry by entry.
Json parse_saved(const std::string& text);

// The value as text for a message, cut to about so many bytes.
std::string brief(const Json& json, size_t most = 60);

// A value and its place in a saved text. Every call throws Damage where the value is of another
// kind. Requires: the JSON outlives this.
class SavedValue {
 public:
  // `place`: as in the example above; "" for the whole text.
  explicit SavedValue(const Json& json, std::string place = "")
      : json_(&json), place_(std::move(place)) {}

  const Json& json() const { return *json_; }

  const Json& object() const;
  bool has(const std::string& key) const;
  SavedValue at(const std::string& key) const;
  std::vector<std::pair<std::string, SavedValue>> entries() const;  // of an object
  size_t count() const;  // of a list
  SavedValue element(size_t i) const;  // Requires: i < count().

  std::string text() const;
  bool flag() const;
  double number() const;
  template <class T>
  T whole(T low = std::numeric_limits<T>::min(), T high = std::numeric_limits<T>::max()) const;

  [[noreturn]] void damaged(const std::string& expected) const;

 private:
  std::string place_of(const std::string& key) const;

  const Json* json_;
  std::string place_;
};

template <class T>
T SavedValue::whole(T low, T high) const {
  const auto is_within = [&](auto x) {
    return std::cmp_less_equal(low, x) && std::cmp_less_equal(x, high);
  };
  if (const auto* x = json_->get_ptr<const Json::number_unsigned_t*>(); x && is_within(*x))
    return static_cast<T>(*x);
  if (const auto* x = json_->get_ptr<const Json::number_integer_t*>();
      x && !json_->is_number_unsigned() && is_within(*x))
    return static_cast<T>(*x);
  damaged("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace stoker
