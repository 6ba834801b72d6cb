// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/content.h"
#include "base/text.h"
#include "stores/annotations/coco.h"

namespace stoker::stores {

namespace json = simdjson::ondemand;

namespace {

// A value that cannot be right.
struct Odd {
  std::string what;
};

// The value as the file has it, up to the end of the first list or object, or less if it is long.
std::string shown(json::value value) {
  // The document is padded, so that so much can be read.
  const std::string_view text(value.raw_json_token().begin(), simdjson::SIMDJSON_PADDING);
  const size_t end = text[0] == '"'   ? text.find('"', 1) + 1
                     : text[0] == '[' ? text.find(']') + 1
                     : text[0] == '{' ? text.find('}') + 1
                                      : text.find_first_of(",]} \t\r\n");
  const bool is_long = end == 0 || end == text.npos;
  return shortened(text.substr(0, is_long ? text.npos : end), 60);
}

[[noreturn]] void odd(const char* key, json::value value, const char* expected) {
  throw Odd{"'" + std::string(key) + "' is " + shown(value) + ", expected " + expected};
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T x{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return x;
}

// A number, or a text that is one.
std::optional<double> number_in(json::value value) {
  double x = 0;
  std::string_view text;
  if (value.get_double().get(x) == simdjson::SUCCESS) return x;
  if (value.raw_json_token().starts_with('"') && value.get_string().get(text) == simdjson::SUCCESS)
    if (const auto number = parsed<double>(text); number && std::isfinite(*number)) return number;
  return std::nullopt;
}

std::optional<int64_t> whole_in(json::value value) {
  constexpr double kExact = int64_t{1} << 53;
  int64_t n = 0;
  double x = 0;
  std::string_view text;
  if (value.get_int64().get(n) == simdjson::SUCCESS) return n;
  if (value.get_double().get(x) == simdjson::SUCCESS && x == std::trunc(x) && std::abs(x) <= kExact)
    return static_cast<int64_t>(x);
  if (value.raw_json_token().starts_with('"') && value.get_string().get(text) == simdjson::SUCCESS)
    return parsed<int64_t>(text);
  return std::nullopt;
}

bool is_null(json::value value) { return value.raw_json_token().starts_with("null"); }
bool is_list(json::value value) { return value.raw_json_token().starts_with('['); }

int64_t id_in(const char* key, json::value value) {
  const auto id = whole_in(value);
  if (!id) odd(key, value, "a whole number");
  return *id;
}

float float_in(const char* key, json::value value) {
  const auto x = number_in(value);
  if (!x) odd(key, value, "a number");
  if (std::abs(*x) > std::numeric_limits<float>::max())
    odd(key, value, "a number that fits into float32");
  return static_cast<float>(*x);
}

// Tools write 0, -1 or null where they do not know an extent.
int32_t extent_in(const char* key, json::value value) {
  constexpr double kLargest = 1 << 24;
  if (is_null(value)) return 0;
  const auto x = number_in(value);
  if (!x || *x != std::trunc(*x) || *x > kLargest) odd(key, value, "a number of pixels");
  return static_cast<int32_t>(std::max(*x, 0.0));
}

// Whether a flag is set; none if it is odd.
std::optional<bool> flag_in(json::value value) {
  bool flag = false;
  if (value.get_bool().get(flag) == simdjson::SUCCESS) return flag;
  if (is_null(value)) return false;
  const auto x = number_in(value);
  return x ? std::optional(*x != 0) : std::nullopt;
}

json::array list_in(const char* key, json::value value, const char* of) {
  if (!is_list(value)) odd(key, value, of);
  return value.get_array();
}

}  // namespace

class CocoParser {
 public:
  CocoParser(CocoSet& set, std::string_view text, const std::string& shown)
      : set_(set), shown_(shown), text_(text) {
    // Blanks in its place leave all offsets as they are.
    if (text.starts_with(kByteOrderMark)) std::fill_n(text_.data(), kByteOrderMark.size(), ' ');
  }

  void run() {
    set_.polygon_ends_ = {0};
    try {
      document_ = parser_.iterate(text_);
      is_open_ = true;
      for (auto field : document_.get_object()) add_member(field.unescaped_key(), field.value());
      const char* rest = nullptr;
      if (document_.current_location().get(rest) == simdjson::SUCCESS)
        fail("there is more in it than one object");
    } catch (const Odd& o) {
      fail(o.what);
    } catch (const simdjson::simdjson_error& e) {
      const std::string_view text = text_;
      const size_t begin = text.find_first_not_of(" \t\r\n");
      if (begin != text.npos && text[begin] != '{')
        throw GraphError("'" + shown_ + "': expected an object of JSON, found " +
                         describe_content({text_.u8data(), text.size()}));
      fail(e.error() == simdjson::CAPACITY ? "files of JSON of more than 4 GB are not read"
                                           : "this is no JSON");
    }
    for (const char* member : {"images", "annotations"})
      if (!has(member))
        throw GraphError("'" + shown_ + "' has no '" + member +
                         "': it does not hold annotations of COCO");
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    const char* at = nullptr;
    std::string where;
    if (is_open_ && document_.current_location().get(at) == simdjson::SUCCESS &&
        at >= text_.data() && at <= text_.data() + text_.size())
      where = " at byte " + std::to_string(at - text_.data());
    throw GraphError("'" + shown_ + "'" + where + ": " + what);
  }

  bool has(std::string_view member) const {
    return std::find(members_.begin(), members_.end(), member) != members_.end();
  }

  void add_member(std::string_view key, json::value value) {
    constexpr const char* kLists[] = {"images", "annotations", "categories"};
    const auto name = std::find(std::begin(kLists), std::end(kLists), key);
    if (name == std::end(kLists)) return;
    if (has(key)) fail("there are two members '" + std::string(key) + "'");
    members_.emplace_back(key);
    for (json::value element : list_in(*name, value, "a list")) {
      if (!element.raw_json_token().starts_with('{'))
        throw Odd{"'" + std::string(*name) + "' holds " + shown(element) + ", expected objects"};
      const json::object object = element.get_object();
      if (*name == kLists[0]) add_image(object);
      else if (*name == kLists[1]) add_annotation(object);
      else add_category(object);
    }
  }

  // Calls f, and keeps what it finds to be odd.
  template <class F>
  void judge(CocoSet::Range& fault, F f) {
    try {
      f();
    } catch (const Odd& o) {
      if (fault.is_empty()) fault = set_.add_text(o.what);
    }
  }

  void add_image(json::object object) {
    CocoSet::Image image{CocoSet::kNoId, 0, 0, {0, 0}, {0, 0}, 0, 0};
    bool has_name = false;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "id") {
        image.id = id_in("id", value);
      } else if (key == "width") {
        judge(image.fault, [&] { image.width = extent_in("width", value); });
      } else if (key == "height") {
        judge(image.fault, [&] { image.height = extent_in("height", value); });
      } else if (key == "file_name") {
        std::string_view name;
        if (value.get_string().get(name) != simdjson::SUCCESS) odd("file_name", value, "a text");
        image.name = set_.add_text(name), has_name = true;
      }
    }
    if (image.id == CocoSet::kNoId) fail("'id' is missing in an image");
    if (!has_name) fail("'file_name' is missing in image " + std::to_string(image.id));
    set_.images_.push_back(image);
  }

  void add_category(json::object object) {
    for (auto field : object)
      if (field.unescaped_key().value() == "id") {
        set_.categories_.push_back(id_in("id", field.value()));
        return;
      }
    fail("'id' is missing in a category");
  }

  void add_annotation(json::object object) {
    CocoSet::Annotation a{};
    a.id = a.image_id = CocoSet::kNoId;
    bool has_category = false, has_box = false;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      json::value value = field.value();
      if (key == "id") {
        a.id = whole_in(value).value_or(CocoSet::kNoId);
      } else if (key == "image_id") {
        a.image_id = whole_in(value).value_or(CocoSet::kNoId);
      } else if (key == "category_id") {
        has_category = true;
        judge(a.category_fault, [&] { a.category = id_in("category_id", value); });
      } else if (key == "iscrowd") {
        const std::optional<bool> flag = flag_in(value);
        a.is_crowd = flag ? int32_t{*flag} : CocoSet::kOdd;
      } else if (key == "bbox") {
        has_box = true;
        judge(a.box_fault, [&] { a.box = box(value); });
      } else if (key == "segmentation") {
        judge(a.mask_fault, [&] { segmentation(a, value); });
      }
    }
    if (!has_category) a.category_fault = set_.add_text("'category_id' is missing");
    if (!has_box) a.box_fault = set_.add_text("'bbox' is missing");
    set_.annotations_.push_back(a);
  }

  static CocoSet::Box box(json::value value) {
    constexpr const char* kExpected = "four numbers: left, top, width and height";
    float v[4] = {};
    size_t n = 0;
    for (json::value number : list_in("bbox", value, kExpected)) {
      if (n == 4 || !number_in(number)) odd("bbox", value, kExpected);
      v[n++] = float_in("bbox", number);
    }
    if (n < 4) odd("bbox", value, kExpected);
    return {v[0], v[1], v[2], v[3]};
  }

  void segmentation(CocoSet::Annotation& a, json::value value) {
    if (is_null(value)) return;
    if (value.raw_json_token().starts_with('{')) return add_runs(a, value.get_object());
    const uint64_t first = set_.polygon_ends_.size() - 1;
    try {
      for (json::value polygon : list_in("segmentation", value, "polygons or run lengths"))
        add_polygon(polygon);
    } catch (const Odd&) {
      set_.polygon_ends_.resize(first + 1);
      set_.coordinates_.resize(set_.polygon_ends_.back());
      throw;
    }
    a.form = CocoSet::Form::kPolygons;
    a.mask = {first, set_.polygon_ends_.size() - 1};
  }

  void add_polygon(json::value value) {
    const size_t before = set_.coordinates_.size();
    for (json::value number : list_in("segmentation", value, "a list of polygons, each a list"))
      set_.coordinates_.push_back(float_in("segmentation", number));
    if ((set_.coordinates_.size() - before) % 2 != 0)
      throw Odd{"'segmentation' has a polygon with an odd number of coordinates"};
    set_.polygon_ends_.push_back(set_.coordinates_.size());
  }

  void add_runs(CocoSet::Annotation& a, json::object object) {
    CocoSet::Annotation found{};
    bool has_size = false;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      if (key == "size") add_size(found, field.value()), has_size = true;
      else if (key == "counts") add_counts(found, field.value());
    }
    if (found.form == CocoSet::Form::kNone) throw Odd{"'segmentation' has no 'counts'"};
    if (!has_size) throw Odd{"'segmentation' has no 'size'"};
    a.form = found.form, a.mask = found.mask;
    a.height = found.height, a.width = found.width;
  }

  static void add_size(CocoSet::Annotation& a, json::value value) {
    size_t n = 0;
    for (json::value extent : list_in("size", value, "height and width")) {
      if (n < 2) (n == 0 ? a.height : a.width) = extent_in("size", extent);
      ++n;
    }
    if (n != 2) odd("size", value, "height and width");
  }

  void add_counts(CocoSet::Annotation& a, json::value value) {
    std::string_view compressed;
    if (value.get_string().get(compressed) == simdjson::SUCCESS) {
      a.form = CocoSet::Form::kText;
      a.mask = set_.add_text(compressed);
      return;
    }
    const uint64_t first = set_.runs_.size();
    try {
      for (json::value count : list_in("counts", value, "a list of runs, or a text")) {
        const auto run = whole_in(count);
        if (!run || *run < 0 || *run > std::numeric_limits<uint32_t>::max())
          odd("counts", count, "lengths of runs");
        set_.runs_.push_back(static_cast<uint32_t>(*run));
      }
    } catch (const Odd&) {
      set_.runs_.resize(first);
      throw;
    }
    a.form = CocoSet::Form::kRuns;
    a.mask = {first, set_.runs_.size()};
  }

  CocoSet& set_;
  const std::string& shown_;
  simdjson::padded_string text_;
  json::parser parser_;
  json::document document_;
  bool is_open_ = false;
  std::vector<std::string> members_;
};

void CocoSet::parse(std::string_view json, const std::string& shown) {
  CocoParser(*this, json, shown).run();
}

}  // namespace stoker::stores
