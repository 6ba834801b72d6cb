// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/annotations/coco.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/hash.h"
#include "base/text.h"
#include "io/crc32c.h"
#include "stores/annotations/masks.h"

namespace stoker::stores {

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

// What a file of preprocessed annotations begins with. The number of elements of each list, the
// checksum of what follows, and the lists come behind it.
constexpr char kPreprocessed[] = "stoker's annotations 2\n";

template <class T>
void append(std::string& to, const T* from, size_t count) {
  to.append(reinterpret_cast<const char*>(from), count * sizeof(T));
}

}  // namespace

CocoSet::CocoSet(std::string_view json, const std::string& shown, const CocoOptions& options) {
  parse(json, shown);
  select(shown, options);
}

std::string CocoSet::preprocess(std::string_view json, const std::string& shown) {
  CocoSet set;
  set.parse(json, shown);
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
  if (!body.empty() || !set.has_right_ranges()) throw damaged();
  set.select(shown, options);
  return set;
}

// The checksum finds damage, and this finds files that others made. No two annotations may have a
// mask in common, so that all masks together take no more than the file does.
bool CocoSet::has_right_ranges() const {
  const auto within = [](Range r, size_t all) { return r.begin <= r.end && r.end <= all; };
  const auto in_texts = [&](Range r) { return within(r, texts_.size()); };
  if (polygon_ends_.empty() || polygon_ends_[0] != 0 ||
      polygon_ends_.back() != coordinates_.size() || !std::ranges::is_sorted(polygon_ends_) ||
      !std::ranges::all_of(polygon_ends_, [](uint64_t end) { return end % 2 == 0; }))
    return false;
  for (const Image& i : images_)
    if (!in_texts(i.name) || !in_texts(i.fault) || i.width < 0 || i.height < 0) return false;
  size_t coordinates = 0, runs = 0, texts = 0;
  for (const Annotation& a : annotations_) {
    if (!in_texts(a.box_fault) || !in_texts(a.category_fault) || !in_texts(a.mask_fault))
      return false;
    if (a.form == Form::kPolygons) {
      if (!within(a.mask, polygon_ends_.size() - 1)) return false;
      coordinates += polygon_ends_[a.mask.end] - polygon_ends_[a.mask.begin];
    } else if (a.form == Form::kRuns) {
      if (!within(a.mask, runs_.size())) return false;
      runs += a.mask.end - a.mask.begin;
    } else if (a.form == Form::kText) {
      if (!in_texts(a.mask)) return false;
      texts += a.mask.end - a.mask.begin;
    } else if (a.form != Form::kNone) {
      return false;
    }
    if (coordinates > coordinates_.size() || runs > runs_.size() || texts > texts_.size())
      return false;
  }
  return true;
}

CocoSet::Range CocoSet::add_text(std::string_view text) {
  const uint64_t begin = texts_.size();
  texts_ += text;
  return {begin, texts_.size()};
}

void CocoSet::find_labels(const CocoOptions& options) {
  std::unordered_map<int64_t, int32_t> labels;
  for (const int64_t id : categories_) labels.emplace(id, static_cast<int32_t>(labels.size()) + 1);
  std::unordered_map<int64_t, Range> faults;  // by category
  const auto label_of = [&](int64_t category) -> std::optional<int32_t> {
    const auto id = static_cast<int32_t>(category);
    if (!options.remap_classes) return id == category ? std::optional(id) : std::nullopt;
    const auto found = labels.find(category);
    return found == labels.end() ? std::nullopt : std::optional(found->second);
  };
  for (Annotation& a : annotations_) {
    if (!a.category_fault.is_empty()) continue;
    const std::optional<int32_t> label = label_of(a.category);
    a.label = label.value_or(0);
    if (label) continue;
    const auto [fault, is_new] = faults.try_emplace(a.category);
    if (is_new)
      fault->second = add_text("its category, " + std::to_string(a.category) +
                               (options.remap_classes ? ", is not among the file's categories"
                                                      : ", does not fit into int32"));
    a.category_fault = fault->second;
  }
}

// Entries of one image must be the same.
void CocoSet::check_images(const std::string& shown) {
  for (size_t i = 1; i < images_.size(); ++i) {
    Image &a = images_[i - 1], &b = images_[i];
    if (a.id != b.id) continue;
    if (text(a.name) != text(b.name))
      throw GraphError("'" + shown + "': the images '" + shortened(text(a.name), 200) + "' and '" +
                       shortened(text(b.name), 200) + "' have the same id, " +
                       std::to_string(a.id));
    if (a.width == b.width && a.height == b.height) continue;
    const auto extents = [](const Image& image) {
      return std::to_string(image.width) + " wide and " + std::to_string(image.height) + " high";
    };
    a.fault = b.fault = add_text("it is listed twice, as " + extents(a) + " and as " + extents(b));
  }
}

// Leaves out annotations of images that are not there, and warns of them.
void CocoSet::drop_strays() {
  const auto is_stray = [&](const Annotation& a) {
    const auto at = std::lower_bound(images_.begin(), images_.end(), a.image_id,
                                     [](const Image& image, int64_t id) { return image.id < id; });
    return at == images_.end() || at->id != a.image_id;
  };
  const auto first = std::find_if(annotations_.begin(), annotations_.end(), is_stray);
  if (first == annotations_.end()) return;
  const std::string name = in_words(*first);
  const size_t count = std::erase_if(annotations_, is_stray);
  warning_ =
      "annotations of images that are not among 'images' are left out: " + std::to_string(count) +
      ", the first of them " + name;
}

void CocoSet::drop_unwanted(const CocoOptions& options) {
  if (!options.include_iscrowd)
    for (Annotation& a : annotations_)
      if (a.is_crowd == kOdd && a.box_fault.is_empty())
        a.box_fault = add_text("'iscrowd' is neither 0 nor 1");
  const auto too_small = [&](double extent) { return !(extent >= options.size_threshold); };
  std::erase_if(annotations_, [&](const Annotation& a) {
    if (a.is_crowd == 1 && !options.include_iscrowd) return true;
    return a.box_fault.is_empty() && (too_small(a.box.width) || too_small(a.box.height));
  });
}

void CocoSet::give_images_their_annotations() {
  sort_stably(annotations_, [](const Annotation& a) { return a.image_id; });
  for (Image& image : images_) {
    const auto its = std::ranges::equal_range(annotations_, image.id, {}, &Annotation::image_id);
    image.first = its.begin() - annotations_.begin();
    image.last = its.end() - annotations_.begin();
  }
}

void CocoSet::drop_masks() {
  texts_.shrink_to_fit();
  coordinates_ = {};
  runs_ = {};
  polygon_ends_ = {0};
  for (Annotation& a : annotations_) a.form = Form::kNone, a.mask_fault = {0, 0};
}

// Warns of images that are not there.
std::vector<int64_t> CocoSet::images_named(const std::vector<std::string>& names,
                                           const std::string& shown) {
  std::unordered_map<std::string_view, int64_t> by_name;
  for (size_t i = 0; i < images_.size(); ++i)
    by_name.emplace(text(images_[i].name), static_cast<int64_t>(i));
  std::vector<int64_t> numbers;
  std::vector<std::string_view> unknown;
  for (const std::string& name : names) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) unknown.push_back(name);
    else numbers.push_back(found->second);
  }
  if (unknown.empty()) return numbers;
  const std::string text = "argument 'images' has " + std::to_string(unknown.size()) + " of " +
                           std::to_string(names.size()) + " names that '" + shown +
                           "' does not list, the first of them '" + shortened(unknown[0], 200) +
                           "'";
  if (unknown.size() == names.size()) throw GraphError(text);
  warning_ += (warning_.empty() ? "" : "; ") + text + ": they are left out";
  return numbers;
}

void CocoSet::select(const std::string& shown, const CocoOptions& options) {
  sort_stably(images_, [](const Image& image) { return image.id; });
  check_images(shown);
  drop_strays();
  find_labels(options);
  drop_unwanted(options);
  give_images_their_annotations();
  if (!options.masks) drop_masks();
  if (options.images) {
    samples_ = images_named(*options.images, shown);
  } else {
    samples_.resize(images_.size());
    std::iota(samples_.begin(), samples_.end(), int64_t{0});
  }
  if (options.skip_empty)
    std::erase_if(samples_, [&](int64_t i) {
      const Image& image = images_[static_cast<size_t>(i)];
      return image.first == image.last;
    });
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

std::string CocoSet::in_words(const Annotation& a) {
  const std::string of =
      a.image_id == kNoId ? "without an image_id" : "of image " + std::to_string(a.image_id);
  return (a.id == kNoId ? "an annotation " : "annotation " + std::to_string(a.id) + " ") + of;
}

void CocoSet::check(int64_t i, Range Annotation::* fault) const {
  for (int64_t object = 0; object < boxes(i); ++object)
    if (const Annotation& a = annotation(i, object); !(a.*fault).is_empty())
      throw SampleError(in_words(a) + ": " + std::string(text(a.*fault)));
}

void CocoSet::check_extents(int64_t i) const {
  if (const Range fault = image(i).fault; !fault.is_empty())
    throw SampleError("image " + std::to_string(image_id(i)) + ": " + std::string(text(fault)));
}

bool CocoSet::has_all_masks(int64_t i) const {
  for (int64_t object = 0; object < boxes(i); ++object)
    if (const Annotation& a = annotation(i, object);
        a.form == Form::kNone || (a.form == Form::kPolygons && a.mask.is_empty()))
      return false;
  return true;
}

void CocoSet::paint_masks(int64_t i, int64_t h, int64_t w, std::span<int32_t> rows) const {
  std::fill(rows.begin(), rows.end(), 0);
  std::vector<const Annotation*> order;
  for (int64_t object = 0; object < boxes(i); ++object) order.push_back(&annotation(i, object));
  sort_stably(order, [](const Annotation* a) { return a->label; });
  for (const Annotation* a : order) {
    for_polygons(
        *a, [&](std::span<const float> xy) { paint_polygon(xy, h, w, a->label, rows.data()); });
    if (a->form != Form::kRuns && a->form != Form::kText) continue;
    if (a->height != h || a->width != w)
      throw SampleError(in_words(*a) + ": its mask has " + std::to_string(a->height) + " x " +
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
