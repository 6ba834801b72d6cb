// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/saved_value.h"

namespace stoker {

namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr size_t kMostLevels = 64;
constexpr int kMostEntries = 4096;

// Reads a text without keeping it, and throws Damage where it is beyond the bounds. Json::parse
// could call such checks itself, but would look at a whole list again after each of its elements.
class Bounds : public nlohmann::json_sax<Json> {
 public:
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string&) override {
    if (++entries_.back() > kMostEntries)
      throw Damage("it has an object of more than " + std::to_string(kMostEntries) + " entries");
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  // Json::parse, which comes next, reports it.
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  bool open() {
    if (entries_.size() >= kMostLevels)
      throw Damage("its lists and objects stand within each other more than " +
                   std::to_string(kMostLevels) + " deep");
    entries_.push_back(0);
    return true;
  }
  bool close() {
    entries_.pop_back();
    return true;
  }

  std::vector<int> entries_;  // of the open lists and objects
};

}  // namespace

Json parse_saved(const std::string& text) {
  if (text.size() > kMostBytes)
    throw Damage("it has " + std::to_string(text.size()) + " bytes, more than 2^30");
  Bounds bounds;
  (void)Json::sax_parse(text, &bounds);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw Damage("it is no JSON from byte " + std::to_string(e.byte) + " on");
  } catch (const Json::exception&) {
    throw Damage("it holds a number that is too large");
  }
}

std::string brief(const Json& json, size_t most) { return shortened(json.dump(), most); }

std::string SavedValue::place_of(const std::string& key) const {
  return place_.empty() ? key : place_ + "." + key;
}

const Json& SavedValue::object() const {
  if (!json_->is_object()) damaged("an object");
  return *json_;
}

bool SavedValue::has(const std::string& key) const { return object().contains(key); }

SavedValue SavedValue::at(const std::string& key) const {
  if (!has(key)) throw Damage("it has no " + shortened(place_of(key), 200));
  return SavedValue(json_->at(key), place_of(key));
}

std::vector<std::pair<std::string, SavedValue>> SavedValue::entries() const {
  std::vector<std::pair<std::string, SavedValue>> all;
  for (const auto& entry : object().items())
    all.emplace_back(entry.key(), SavedValue(entry.value(), place_of(entry.key())));
  return all;
}

size_t SavedValue::count() const {
  if (!json_->is_array()) damaged("a list");
  return json_->size();
}

SavedValue SavedValue::element(size_t i) const {
  return SavedValue((*json_)[i], place_ + "[" + std::to_string(i) + "]");
}

std::string SavedValue::text() const {
  if (!json_->is_string()) damaged("a text");
  return json_->get<std::string>();
}

bool SavedValue::flag() const {
  if (!json_->is_boolean()) damaged("true or false");
  return json_->get<bool>();
}

double SavedValue::number() const {
  if (!json_->is_number()) damaged("a number");
  return json_->get<double>();
}

void SavedValue::damaged(const std::string& expected) const {
  throw Damage((place_.empty() ? "it" : shortened(place_, 200)) + " expects " + expected +
               ", got " + brief(*json_));
}

}  // namespace stoker
