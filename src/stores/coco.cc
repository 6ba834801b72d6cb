// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/coco.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/content.h"
#include "base/hash.h"
#include "base/text.h"
#include "io/crc32c.h"
#include "stores/masks.h"

namespace stoker::stores {

namespace json = simdjson::ondemand;

// Fills a CocoSet from JSON.
class CocoParser {
 public:
  CocoParser(CocoSet& set, std::string_view text, const std::string& shown)
      : set_(set), shown_(shown), text_(text) {
    // Blanks in its place leave all offsets as they are.
    if (text.starts_with(kByteOrderMark)) std::fill_n(text_.data(), kByteOrderMark.size(), ' ');
  }

  void run() {
    set_.polygon_ends_ = {0};
    bool images = false, annotations = false, categories = false;
    const auto once = [&](bool& is_there, const char* member) {
      if (is_there) fail(std::string("there are two members '") + member + "'");
      is_there = true;
    };
    try {
      document_ = parser_.iterate(text_);
      is_open_ = true;
      for (auto field : document_.get_object()) {
        const std::string_view key = field.unescaped_key();
        if (key == "images") {
          once(images, "images");
          for (auto image : field.value().get_array()) add_image(image.get_object());
        } else if (key == "annotations") {
          once(annotations, "annotations");
          for (auto annotation : field.value().get_array()) add_annotation(annotation.get_object());
        } else if (key == "categories") {
          once(categories, "categories");
          for (auto category : field.value().get_array()) add_category(category.get_object());
        }
      }
      const char* rest = nullptr;
      if (document_.current_location().get(rest) == simdjson::SUCCESS)
        fail("there is more in it than one object");
    } catch (const simdjson::simdjson_error& e) {
      const std::string_view text = text_;
      const size_t begin = text.find_first_not_of(" \t\r\n");
      if (begin != text.npos && text[begin] != '{')
        throw GraphError("'" + shown_ + "': expected an object of JSON, found " +
                         describe_content({text_.u8data(), text.size()}));
      switch (e.error()) {
        case simdjson::INCORRECT_TYPE: fail("a value is of another type than expected here");
        case simdjson::NUMBER_ERROR: fail("a number is out of range, or no number of JSON");
        case simdjson::NUMBER_OUT_OF_RANGE: fail("a number is out of range");
        case simdjson::CAPACITY: fail("files of JSON of more than 4 GB are not read");
        default: fail("this is no JSON");
      }
    }
    if (!images || !annotations)
      throw GraphError("'" + shown_ + "' has no '" + (images ? "annotations" : "images") +
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
  [[noreturn]] void missing(const char* member, const char* of) {
    fail(std::string("'") + member + "' is missing in " + of);
  }

  static constexpr int64_t kLargestExtent = 1 << 24;

  CocoSet::Range add_text(std::string_view text) {
    const uint64_t begin = set_.texts_.size();
    set_.texts_ += text;
    return {begin, set_.texts_.size()};
  }

  // 0 or 1, or as a boolean.
  static bool truth(json::value value) {
    if (value.type() == json::json_type::boolean) return value.get_bool();
    return value.get_double() != 0;
  }

  float number(json::value value) {
    const double x = value.get_double();
    if (std::abs(x) > std::numeric_limits<float>::max()) fail("a number does not fit into float32");
    return static_cast<float>(x);
  }

  int32_t extent(json::value value) {
    const double x = value.get_double();
    if (!(x >= 0 && x <= kLargestExtent)) fail("the extent of a picture is out of range");
    return static_cast<int32_t>(x);
  }

  void add_image(json::object object) {
    CocoSet::Image image{-1, -1, -1, {0, 0}, 0, 0};
    bool has_id = false, has_name = false;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      if (key == "id") image.id = field.value().get_int64(), has_id = true;
      else if (key == "width") image.width = extent(field.value());
      else if (key == "height") image.height = extent(field.value());
      else if (key == "file_name")
        image.name = add_text(field.value().get_string()), has_name = true;
    }
    if (!has_id) missing("id", "an image");
    if (!has_name) missing("file_name", "an image");
    if (image.width < 0 || image.height < 0) missing("width or height", "an image");
    set_.images_.push_back(image);
  }

  void add_category(json::object object) {
    for (auto field : object)
      if (field.unescaped_key().value() == "id") {
        set_.categories_.push_back(field.value().get_int64());
        return;
      }
    missing("id", "a category");
  }

  void add_annotation(json::object object) {
    CocoSet::Annotation a{};
    bool has_image = false, has_category = false, has_box = false;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      if (key == "image_id") a.image_id = field.value().get_int64(), has_image = true;
      else if (key == "category_id") a.category = field.value().get_int64(), has_category = true;
      else if (key == "iscrowd") a.is_crowd = truth(field.value());
      else if (key == "bbox") a.box = box(field.value().get_array()), has_box = true;
      else if (key == "segmentation") segmentation(a, field.value());
    }
    if (!has_image) missing("image_id", "an annotation");
    if (!has_category) missing("category_id", "an annotation");
    if (!has_box) missing("bbox", "an annotation");
    set_.annotations_.push_back(a);
  }

  CocoSet::Box box(json::array array) {
    float v[4];
    size_t n = 0;
    for (auto value : array) {
      if (n == 4) fail("a bbox has more than four numbers");
      v[n++] = number(value.value());
    }
    if (n < 4) fail("a bbox has fewer than four numbers");
    return {v[0], v[1], v[2], v[3]};
  }

  void segmentation(CocoSet::Annotation& a, json::value value) {
    switch (value.type()) {
      case json::json_type::array:
        a.form = CocoSet::Form::kPolygons;
        a.mask.begin = set_.polygon_ends_.size() - 1;
        for (auto polygon : value.get_array()) add_polygon(polygon.get_array());
        a.mask.end = set_.polygon_ends_.size() - 1;
        return;
      case json::json_type::object: add_runs(a, value.get_object()); return;
      case json::json_type::null: return;
      default: fail("a segmentation is neither polygons nor run lengths");
    }
  }

  void add_polygon(json::array array) {
    const size_t before = set_.coordinates_.size();
    for (auto value : array) set_.coordinates_.push_back(number(value.value()));
    if ((set_.coordinates_.size() - before) % 2 != 0)
      fail("a polygon has an odd number of coordinates");
    set_.polygon_ends_.push_back(set_.coordinates_.size());
  }

  void add_runs(CocoSet::Annotation& a, json::object object) {
    bool has_counts = false, has_size = false;
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      if (key == "size") {
        int n = 0;
        has_size = true;
        for (auto value : field.value().get_array()) {
          if (n >= 2) fail("the size of a mask has more than two numbers");
          (n++ == 0 ? a.height : a.width) = extent(value.value());
        }
        if (n < 2) fail("the size of a mask has fewer than two numbers");
      } else if (key == "counts") {
        has_counts = true;
        json::value value = field.value();
        if (value.type() == json::json_type::string) {
          a.form = CocoSet::Form::kText;
          a.mask = add_text(value.get_string());
        } else {
          a.form = CocoSet::Form::kRuns;
          a.mask.begin = set_.runs_.size();
          for (auto count : value.get_array()) {
            const uint64_t run = count.get_uint64();
            if (run > std::numeric_limits<uint32_t>::max()) fail("a run is too long");
            set_.runs_.push_back(static_cast<uint32_t>(run));
          }
          a.mask.end = set_.runs_.size();
        }
      }
    }
    if (!has_counts) missing("counts", "a segmentation");
    if (!has_size) missing("size", "a segmentation");
  }

  CocoSet& set_;
  const std::string& shown_;
  simdjson::padded_string text_;
  json::parser parser_;
  json::document document_;
  bool is_open_ = false;
};

namespace {

// Sorts by the key. What has equal keys stays in its order.
template <class T, class Key>
void sort_stably(std::vector<T>& list, const Key& key) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < list.size(); ++i) order.emplace_back(key(list[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<T> sorted;
  sorted.reserve(list.size());
  for (const auto& [of, i] : order) sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

// What a file of preprocessed annotations begins with. Behind it are the numbers of elements of
// each list, the checksum of what follows, and the lists.
constexpr char kPreprocessed[] = "stoker's annotations 1\n";

template <class T>
void append(std::string& to, const T* from, size_t count) {
  to.append(reinterpret_cast<const char*>(from), count * sizeof(T));
}

}  // namespace

CocoSet::CocoSet(std::string_view json, const std::string& shown, const CocoOptions& options) {
  CocoParser(*this, json, shown).run();
  select(shown, options);
}

std::string CocoSet::preprocess(std::string_view json, const std::string& shown) {
  CocoSet set;
  CocoParser(set, json, shown).run();
  std::string body, head = kPreprocessed;
  const auto add = [&](const auto& list) {
    const uint64_t n = list.size();
    append(head, &n, 1);
    append(body, list.data(), list.size());
  };
  add(set.images_);
  add(set.annotations_);
  add(set.categories_);
  add(set.polygon_ends_);
  add(set.coordinates_);
  add(set.runs_);
  add(set.texts_);
  const uint32_t sum = io::crc32c({reinterpret_cast<const uint8_t*>(body.data()), body.size()});
  append(head, &sum, 1);
  return head + body;
}

CocoSet CocoSet::from_preprocessed(std::string_view bytes, const std::string& shown,
                                   const CocoOptions& options) {
  const auto damaged = [&] {
    return GraphError("'" + shown +
                      "' holds no preprocessed annotations, or they are damaged: save them again");
  };
  if (!bytes.starts_with(kPreprocessed)) throw damaged();
  bytes.remove_prefix(sizeof kPreprocessed - 1);
  constexpr size_t kLists = 7;
  constexpr size_t kHead = kLists * sizeof(uint64_t) + sizeof(uint32_t);
  if (bytes.size() < kHead) throw damaged();
  const ByteSpan head(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  ByteSpan body = head.subspan(kHead);
  if (io::crc32c(body) != number_at<uint32_t>(head, kLists * sizeof(uint64_t))) throw damaged();
  CocoSet set;
  size_t list = 0;
  const auto take = [&](auto& to) {
    using T = std::decay_t<decltype(to[0])>;
    const auto n = number_at<uint64_t>(head, list++ * sizeof(uint64_t));
    if (n > body.size() / sizeof(T)) throw damaged();
    to.resize(n);
    if (n > 0) std::memcpy(to.data(), body.data(), n * sizeof(T));
    body = body.subspan(n * sizeof(T));
  };
  take(set.images_);
  take(set.annotations_);
  take(set.categories_);
  take(set.polygon_ends_);
  take(set.coordinates_);
  take(set.runs_);
  take(set.texts_);
  // The checksum tells of damage, and these of whoever wrote the file otherwise. No two annotations
  // have a mask in common, so that all masks together take no more than the file does.
  const auto within = [](Range r, size_t all) { return r.begin <= r.end && r.end <= all; };
  size_t coordinates = 0, runs = 0, texts = 0;
  bool is_right = body.empty() && !set.polygon_ends_.empty() && set.polygon_ends_[0] == 0 &&
                  set.polygon_ends_.back() == set.coordinates_.size() &&
                  std::is_sorted(set.polygon_ends_.begin(), set.polygon_ends_.end());
  for (const uint64_t end : set.polygon_ends_) is_right = is_right && end % 2 == 0;
  for (const Image& i : set.images_)
    is_right = is_right && within(i.name, set.texts_.size()) && i.width >= 0 && i.height >= 0;
  for (const Annotation& a : set.annotations_) {
    if (a.form == Form::kPolygons) {
      is_right = is_right && within(a.mask, set.polygon_ends_.size() - 1);
      if (is_right) coordinates += set.polygon_ends_[a.mask.end] - set.polygon_ends_[a.mask.begin];
    } else if (a.form == Form::kRuns) {
      is_right = is_right && within(a.mask, set.runs_.size());
      runs += a.mask.end - a.mask.begin;
    } else if (a.form == Form::kText) {
      is_right = is_right && within(a.mask, set.texts_.size());
      texts += a.mask.end - a.mask.begin;
    } else {
      is_right = is_right && a.form == Form::kNone;
    }
    is_right = is_right && coordinates <= set.coordinates_.size() && runs <= set.runs_.size() &&
               texts <= set.texts_.size();
  }
  if (!is_right) throw damaged();
  set.select(shown, options);
  return set;
}

void CocoSet::select(const std::string& shown, const CocoOptions& options) {
  std::unordered_map<int64_t, int32_t> labels;
  for (const int64_t id : categories_) labels.emplace(id, static_cast<int32_t>(labels.size()) + 1);
  for (Annotation& a : annotations_) {
    if (!options.remap_classes) {
      if (a.category != static_cast<int32_t>(a.category))
        throw GraphError("'" + shown + "': category " + std::to_string(a.category) +
                         " does not fit into int32");
      a.label = static_cast<int32_t>(a.category);
      continue;
    }
    const auto found = labels.find(a.category);
    if (found == labels.end())
      throw GraphError("'" + shown + "': an annotation of image " + std::to_string(a.image_id) +
                       " has the category " + std::to_string(a.category) +
                       ", which is not among the file's categories");
    a.label = found->second;
  }
  const auto too_small = [&](double extent) { return !(extent >= options.size_threshold); };
  std::erase_if(annotations_, [&](const Annotation& a) {
    return (a.is_crowd && !options.include_iscrowd) || too_small(a.box.width) ||
           too_small(a.box.height);
  });
  sort_stably(annotations_, [](const Annotation& a) { return a.image_id; });
  sort_stably(images_, [](const Image& image) { return image.id; });
  for (size_t i = 1; i < images_.size(); ++i) {
    const Image &a = images_[i - 1], &b = images_[i];
    if (a.id == b.id && text(a.name) != text(b.name))
      throw GraphError("'" + shown + "': the images '" + shortened(text(a.name), 200) + "' and '" +
                       shortened(text(b.name), 200) + "' have the same id, " +
                       std::to_string(a.id));
  }
  for (Image& image : images_) {
    const auto begin = annotations_.begin();
    const auto first =
        std::lower_bound(begin, annotations_.end(), image.id,
                         [](const Annotation& a, int64_t id) { return a.image_id < id; });
    const auto last =
        std::upper_bound(first, annotations_.end(), image.id,
                         [](int64_t id, const Annotation& a) { return id < a.image_id; });
    image.first = first - begin;
    image.last = last - begin;
  }
  if (!options.masks) {
    texts_.shrink_to_fit();
    coordinates_ = {};
    runs_ = {};
    polygon_ends_ = {0};
    for (Annotation& a : annotations_) a.form = Form::kNone;
  }
  const auto wanted = [&](const Image& i) { return !options.skip_empty || i.first < i.last; };
  if (!options.images) {
    for (size_t i = 0; i < images_.size(); ++i)
      if (wanted(images_[i])) samples_.push_back(static_cast<int64_t>(i));
    return;
  }
  std::unordered_map<std::string_view, int64_t> by_name;
  for (size_t i = 0; i < images_.size(); ++i)
    by_name.emplace(text(images_[i].name), static_cast<int64_t>(i));
  for (const std::string& name : *options.images) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw GraphError("argument 'images': '" + shortened(name, 200) + "' is not in '" + shown +
                       "'");
    if (wanted(images_[static_cast<size_t>(found->second)])) samples_.push_back(found->second);
  }
}

std::string CocoSet::file_name(int64_t i) const { return std::string(text(image(i).name)); }

// Calls f(corners) for each polygon.
template <class F>
void CocoSet::for_polygons(const Annotation& a, F f) const {
  if (a.form != Form::kPolygons) return;
  for (uint64_t p = a.mask.begin; p < a.mask.end; ++p)
    f(std::span(coordinates_).subspan(polygon_ends_[p], polygon_ends_[p + 1] - polygon_ends_[p]));
}

std::vector<CocoSet::Polygon> CocoSet::polygons(int64_t i) const {
  std::vector<Polygon> all;
  int32_t corner = 0;
  for (int64_t object = 0; object < boxes(i); ++object)
    for_polygons(annotation(i, object), [&](std::span<const float> xy) {
      const auto last = corner + static_cast<int32_t>(xy.size() / 2);
      all.push_back({static_cast<int32_t>(object), corner, last});
      corner = last;
    });
  return all;
}

std::vector<float> CocoSet::corners(int64_t i) const {
  std::vector<float> all;
  for (int64_t object = 0; object < boxes(i); ++object)
    for_polygons(annotation(i, object),
                 [&](std::span<const float> xy) { all.insert(all.end(), xy.begin(), xy.end()); });
  return all;
}

void CocoSet::paint_masks(int64_t i, std::span<int32_t> rows) const {
  std::fill(rows.begin(), rows.end(), 0);
  std::vector<const Annotation*> order;
  for (int64_t object = 0; object < boxes(i); ++object) order.push_back(&annotation(i, object));
  sort_stably(order, [](const Annotation* a) { return a->label; });
  for (const Annotation* a : order) {
    const int64_t h = height(i), w = width(i);
    for_polygons(
        *a, [&](std::span<const float> xy) { paint_polygon(xy, h, w, a->label, rows.data()); });
    if (a->form != Form::kRuns && a->form != Form::kText) continue;
    if (a->height != h || a->width != w)
      throw SampleError("a mask has " + std::to_string(a->height) + " x " +
                        std::to_string(a->width) + " pixels, and the picture " + std::to_string(h) +
                        " x " + std::to_string(w));
    if (a->form == Form::kRuns)
      paint(std::span(runs_).subspan(a->mask.begin, a->mask.end - a->mask.begin), h, w, a->label,
            rows.data());
    else paint(parse_run_lengths(text(a->mask)), h, w, a->label, rows.data());
  }
}

uint64_t CocoSet::fingerprint() const {
  uint64_t h = mix(samples_.size());
  for (int64_t i = 0; i < size(); ++i) {
    h = mix(h, hash64(file_name(i)), static_cast<uint64_t>(image_id(i)),
            static_cast<uint64_t>(boxes(i)));
    for (int64_t object = 0; object < boxes(i); ++object) {
      const Box b = box(i, object);
      h = mix(h, static_cast<uint64_t>(label(i, object)), std::bit_cast<uint32_t>(b.x),
              std::bit_cast<uint32_t>(b.y), std::bit_cast<uint32_t>(b.width),
              std::bit_cast<uint32_t>(b.height));
    }
  }
  return h;
}

size_t CocoSet::bytes() const {
  return images_.capacity() * sizeof(Image) + annotations_.capacity() * sizeof(Annotation) +
         texts_.capacity() + polygon_ends_.capacity() * sizeof(uint64_t) +
         coordinates_.capacity() * sizeof(float) + runs_.capacity() * sizeof(uint32_t) +
         samples_.capacity() * sizeof(int64_t);
}

}  // namespace stoker::stores
