// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Annotations of COCO: which pictures there are, and the boxes, classes and masks in each.
#pragma once
#include <optional>
#include <string>

#include "stores/ranges.h"

namespace stoker::stores {

struct CocoOptions {
  bool masks = false;  // keep segmentations
  double size_threshold = 0;  // boxes with a smaller extent are left out
  bool include_iscrowd = true;
  bool skip_empty = false;  // leave out pictures without boxes
  bool remap_classes = true;  // to 1, 2 and so on, in the order of the file's categories
  std::optional<std::vector<std::string>> images;  // which pictures, in this order; else by id
};

// Immutable.
class CocoSet {
 public:
  struct Box {
    float x, y, width, height;
  };
  // Part of a mask in a table of polygons: its object's number in the picture, and its corners
  // [first, last) among those of the picture.
  struct Polygon {
    int32_t object, first, last;
  };

  // Parses JSON. `shown`: its name in errors. Throws GraphError, with a byte, for what is no JSON,
  // for members that are missing or there twice, for images and categories without an id, for
  // different images with the same id, and where no wanted picture is there. Anything else that is
  // wrong is kept: Note [Odd values].
  CocoSet(std::string_view json, const std::string& shown, const CocoOptions& options);

  // The parsed annotations in a form that is read faster. It holds everything, so options still
  // count when it is read. Throws GraphError for damaged bytes.
  static CocoSet from_preprocessed(std::string_view bytes, const std::string& shown,
                                   const CocoOptions& options);
  static std::string preprocess(std::string_view json, const std::string& shown);

  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  std::string file_name(int64_t i) const;
  int64_t image_id(int64_t i) const { return image(i).id; }
  // 0 where the annotations do not say it.
  int32_t height(int64_t i) const { return image(i).height; }
  int32_t width(int64_t i) const { return image(i).width; }
  // Note [Odd values]
  // A value that cannot be right is kept as a fault of its image or annotation, and is 0, because
  // most of a set may do without it. Who needs the value asks for its check, which throws
  // SampleError.
  void check_extents(int64_t i) const;
  void check_boxes(int64_t i) const { check(i, &Annotation::box_fault); }
  void check_labels(int64_t i) const { check(i, &Annotation::category_fault); }
  void check_masks(int64_t i) const { check(i, &Annotation::mask_fault); }
  bool has_all_masks(int64_t i) const;  // each object has a segmentation
  const std::string& warning() const { return warning_; }
  int64_t boxes(int64_t i) const { return image(i).last - image(i).first; }
  Box box(int64_t i, int64_t object) const { return annotation(i, object).box; }
  int32_t label(int64_t i, int64_t object) const { return annotation(i, object).label; }
  // The corners have x and y each. Masks of run lengths have no polygons.
  std::vector<Polygon> polygons(int64_t i) const;
  std::vector<float> corners(int64_t i) const;
  // Writes the label of each pixel, and 0 where there is no object. The larger label counts where
  // objects overlap. Requires: room for height x width. Throws SampleError for a damaged mask, and
  // for run lengths of other extents.
  void paint_masks(int64_t i, int64_t height, int64_t width, std::span<int32_t> rows) const;
  uint64_t fingerprint() const;
  size_t bytes() const;  // memory held

 private:
  friend class CocoParser;
  static constexpr int64_t kNoId = INT64_MIN;
  static constexpr int32_t kOdd = -1;  // Annotation::is_crowd
  struct Range {
    uint64_t begin, end;
    bool is_empty() const { return begin == end; }
  };
  struct Image {
    int64_t id;
    int32_t width, height;
    Range name, fault;  // in texts_; fault: of the extents
    int64_t first, last;  // its annotations
  };
  enum class Form : int32_t { kNone, kPolygons, kRuns, kText };
  struct Annotation {
    int64_t id, image_id, category;
    Box box;
    int32_t label;
    int32_t is_crowd;
    Form form;
    int32_t height, width;  // of the mask, for run lengths
    int32_t unused;
    Range mask;  // in polygon_ends_, runs_ or texts_
    Range box_fault, category_fault, mask_fault;  // in texts_
  };

  CocoSet() = default;
  const Image& image(int64_t i) const {
    return images_[static_cast<size_t>(samples_[static_cast<size_t>(i)])];
  }
  const Annotation& annotation(int64_t i, int64_t object) const {
    return annotations_[static_cast<size_t>(image(i).first + object)];
  }
  std::string_view text(Range r) const {
    return std::string_view(texts_).substr(r.begin, r.end - r.begin);
  }
  template <class F>
  void for_polygons(const Annotation& a, F f) const;
  static std::string in_words(const Annotation& a);
  void check(int64_t i, Range Annotation::* fault) const;
  Range add_text(std::string_view text);
  bool has_right_ranges() const;
  void parse(std::string_view json, const std::string& shown);
  void find_labels(const CocoOptions& options);
  void check_images(const std::string& shown);
  void drop_strays();
  void drop_unwanted(const CocoOptions& options);
  void give_images_their_annotations();
  void drop_masks();
  std::vector<int64_t> images_named(const std::vector<std::string>& names,
                                    const std::string& shown);
  void select(const std::string& shown, const CocoOptions& options);

  std::vector<Image> images_;
  std::vector<Annotation> annotations_;
  std::vector<int64_t> categories_;  // ids in the order of the file
  std::string texts_;
  std::vector<uint64_t> polygon_ends_;  // in coordinates_; the first one is 0
  std::vector<float> coordinates_;
  std::vector<uint32_t> runs_;
  std::vector<int64_t> samples_;  // numbers of images
  std::string warning_;  // of what was left out; empty: nothing
};

}  // namespace stoker::stores
