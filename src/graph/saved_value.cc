// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/saved_value.h"

namespace stoker {

namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr int kMostLevels = 64;
constexpr int kMostEntries = 4096;

// Called by the parser. `depth`: how many lists and objects are open.
class Bounds {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json&) {
    using Event = Json::parse_event_t;
    if (event == Event::key && ++entries_[depth] > kMostEntries)
      throw Damage("it has an object of more than " + std::to_string(kMostEntries) + " entries");
    if (event != Event::array_start && event != Event::object_start) return true;
    if (depth >= kMostLevels)
      throw Damage("its lists and objects stand within each other more than " +
                   std::to_string(kMostLevels) + " deep");
    entries_[depth + 1] = 0;
    return true;
  }

 private:
  int entries_[kMostLevels + 1] = {};  // of the open objects
};

}  // namespace

Json parse_saved(const std::string& text) {
  if (text.size() > kMostBytes)
    throw Damage("it has " + std::to_string(text.size()) + " bytes, more than 2^30");
  try {
    return Json::parse(text, Bounds());
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
