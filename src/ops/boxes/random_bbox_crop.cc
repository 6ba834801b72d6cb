// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/output_names.h"
#include "op/type_of.h"
#include "op/window/box_crop.h"
#include "op/window/box_rows.h"

namespace stoker {

enum class OverlapKind : uint8_t { kIou, kOverlap };
template <>
struct EnumNames<OverlapKind> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"iou", "overlap"};
};

}  // namespace stoker

namespace stoker::ops::boxes {

struct RandomBboxCrop {
  bool all_boxes_above_threshold = true, allow_no_crop = true;
  Small<float> aspect_ratio = {1, 1}, scaling = {1, 1}, thresholds = {0};
  std::optional<Layout> bbox_layout, shape_layout;
  std::optional<float> bbox_prune_threshold;
  std::optional<Small<int>> crop_shape, input_shape;
  bool ltrb = true, output_bbox_indices = false;
  int num_attempts = 1, total_num_attempts = -1;
  OverlapKind threshold_type = OverlapKind::kIou;

  static constexpr bool kRandom = true;
  static constexpr const char* kIgnored[] = {"quiet"};
  static constexpr auto schema = describe(
      "random_bbox_crop",
      "Draws a window of a picture or a volume that keeps bounding boxes, and gives what is left "
      "of these.\n\n"
      "One of the thresholds is drawn, or no window, which leaves everything as it is. Then "
      "windows are drawn until the boxes overlap one as much as the threshold says and a box is "
      "left; "
      "after num_attempts of them another threshold is drawn. Boxes without an area overlap "
      "nothing. The anchor and the shape of the window are float32 and fit slice: shares of the "
      "extents or, with crop_shape, pixels.",
      ports({.name = "boxes",
             .help = "Rows of four or six coordinates, shares of the extents, from 0 to 1.",
             .dtypes = "float32"},
            {.name = "labels",
             .help = "A label, or a row of labels, for each box.",
             .is_optional = true}),
      std::array<Port, 5>{
          {{.name = "anchor", .help = "The start of the window: x, y and perhaps z."},
           {.name = "shape", .help = "Its width, height and perhaps depth."},
           {.name = "boxes_left",
            .help = "The boxes that are left, cut to the window, as shares of its extents."},
           {.name = "labels_left", .help = "The labels of these."},
           {.name = "indices",
            .help = "The numbers of their rows in the input, int32.",
            .when = "output_bbox_indices"}}},
      arg(&RandomBboxCrop::all_boxes_above_threshold, "all_boxes_above_threshold",
          "Whether all boxes have to reach the threshold; else one has to."),
      arg(&RandomBboxCrop::allow_no_crop, "allow_no_crop",
          "Whether it is one of the possibilities to take no window. With crop_shape it is not."),
      arg(&RandomBboxCrop::aspect_ratio, "aspect_ratio",
          "Range of the window's width divided by its height. In three dimensions, two values "
          "serve all of x / y, x / z and y / z, and six values are three ranges for these. It is "
          "that of pixels if input_shape is given, else that of shares.",
          at_least(0)),
      arg(&RandomBboxCrop::bbox_layout, "bbox_layout",
          "The meaning of a box's coordinates: the start xy or xyz and the end XY or XYZ or the "
          "size WH or WHD, in any order. Default: xyXY or xyzXYZ. Excludes ltrb=False."),
      arg(&RandomBboxCrop::bbox_prune_threshold, "bbox_prune_threshold",
          "The share of a box's area that must lie in the window, or else it is dropped. Default: "
          "its centre must lie there.",
          between(0, 1)),
      arg(&RandomBboxCrop::crop_shape, "crop_shape",
          "The window's extents in pixels. Needs input_shape; excludes scaling and aspect_ratio.",
          at_least(1), kPerSample),
      arg(&RandomBboxCrop::input_shape, "input_shape", "The picture's extents in pixels.",
          at_least(1), kPerSample),
      arg(&RandomBboxCrop::ltrb, "ltrb",
          "Whether boxes are two corners, else a corner and the size."),
      arg(&RandomBboxCrop::num_attempts, "num_attempts",
          "How many windows to draw before another threshold is drawn.", at_least(1)),
      arg(&RandomBboxCrop::output_bbox_indices, "output_bbox_indices",
          "Whether to give the numbers of the boxes that are left."),
      arg(&RandomBboxCrop::scaling, "scaling",
          "Range of the window's extents, as shares of the picture's.", at_least(0)),
      arg(&RandomBboxCrop::shape_layout, "shape_layout",
          "The order of crop_shape and input_shape; default: WH or WHD."),
      arg(&RandomBboxCrop::threshold_type, "threshold_type",
          "What an overlap is a share of: of the joint area of box and window ('iou'), or of the "
          "box ('overlap')."),
      arg(&RandomBboxCrop::thresholds, "thresholds", "The least overlaps, equally likely.",
          between(0, 1)),
      arg(&RandomBboxCrop::total_num_attempts, "total_num_attempts",
          "After so many windows no other threshold is drawn, and the best window with fitting "
          "ratios is taken, even if it keeps no box; -1: after 100000 windows it is an error.",
          at_least(-1)));

  void check(Checker& c) const {
    const bool is_fixed = crop_shape || c.is_computed("crop_shape");
    const bool has_shape = input_shape || c.is_computed("input_shape");
    require(!is_fixed || has_shape, "argument 'crop_shape' needs 'input_shape'");
    const auto is_one = [](const Small<float>& range) {
      return std::all_of(range.begin(), range.end(), [](float v) { return v == 1; });
    };
    require(!is_fixed || (is_one(scaling) && is_one(aspect_ratio)),
            "argument 'crop_shape' excludes 'scaling' and 'aspect_ratio'");
    require_range("argument 'scaling'", scaling, {2});
    require_range("argument 'aspect_ratio'", aspect_ratio, {2, 6});
    for (size_t k = 1; k < aspect_ratio.size(); k += 2)
      require(aspect_ratio[k] > 0, "argument 'aspect_ratio' has a greatest ratio of 0");
    require(!thresholds.empty() || (allow_no_crop && !is_fixed),
            "argument 'thresholds' is empty, and allow_no_crop is not set");
    require(total_num_attempts != 0, "argument 'total_num_attempts' is 0, expected -1 or more");
    require(ltrb || !bbox_layout, "arguments 'ltrb' and 'bbox_layout' do not go together");
    const Shape& s = c.in().shape;
    require_rows(s);
    const int64_t columns = s.rank < 0 ? -1 : s[1];
    const int64_t dims = columns < 0 ? -1 : columns / 2;
    if (dims > 0) layout(static_cast<int>(dims));
    else if (bbox_layout) BoxLayout{*bbox_layout};
    if (dims > 0) axes(static_cast<int>(dims));
    for (int k = 0; k < 2; ++k) c.out({DType::kFloat32, {}, {dims}});
    c.out({DType::kFloat32, {}, {-1, columns}});
    if (c.has(1)) {
      TensorType t = c.in(1);
      require(t.shape.rank != 0, "the labels are one number, expected a list");
      if (t.shape.rank > 0) t.shape[0] = -1;
      c.out(t);
    }
    if (output_bbox_indices) c.out({DType::kInt32, {}, {-1}});
  }

  void run_cpu(Run& r) const {
    const View& in = r.inputs[0];
    require_rows(in.full);
    const int dims = static_cast<int>(in.full[1]) / 2;
    const BoxLayout order = layout(dims);
    const std::vector<SpaceBox> boxes = boxes_of(in, order);
    const BoxCrop::Found f = rules(dims).draw(boxes, r.chance);
    for (int k = 0; k < 2; ++k) {
      auto* to = r.make(static_cast<size_t>(k), {DType::kFloat32, {}, {dims}}).as<float>();
      for (int a = 0; a < dims; ++a) to[a] = static_cast<float>((k ? f.extent : f.anchor)[a]);
    }
    give_boxes(r, 0, f, order, boxes, 2);
    size_t next = 3;
    if (r.has(1)) give_rows(r, 1, f.kept, next++, in.full[0]);
    if (!output_bbox_indices) return;
    const auto left = static_cast<int64_t>(f.kept.size());
    auto* indices = r.make(next, {DType::kInt32, {}, {left}}).as<int32_t>();
    for (size_t b : f.kept) *indices++ = static_cast<int32_t>(b);
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"float32 [[0.25, 0.5, 0.75, 1]]", "int32 [7]"},
         {"float32 [0, 0]", "float32 [1, 1]", "float32 [[0.25, 0.5, 0.75, 1]]", "int32 [7]"}},
        {"crop_shape=[8, 4], input_shape=[8, 4], output_bbox_indices=True, bbox_layout=\"xyWH\"",
         {"float32 [[0.25, 0.5, 0.5, 0.25], [0, 0, 1, 1]]"},
         {"float32 [0, 0]", "float32 [8, 4]", "float32 [[0.25, 0.5, 0.5, 0.25], [0, 0, 1, 1]]",
          "int32 [0, 1]"}},
        {"allow_no_crop=False, thresholds=[0.5]",
         {"float32 [[0, 0, 0, 1, 1, 1]]"},
         {"float32 [0, 0, 0]", "float32 [1, 1, 1]", "float32 [[0, 0, 0, 1, 1, 1]]"}},
    };
  }

 private:
  static void require_rows(const Shape& s) {
    const bool fits = s.rank == 2 && (s[1] < 0 || s[1] == 4 || s[1] == 6);
    require(s.rank < 0 || fits, "the boxes have the shape ", s, ", expected (N, 4) or (N, 6)");
  }
  static void require_range(const char* name, const Small<float>& r,
                            std::initializer_list<int64_t> counts) {
    require_count(name, r.size(), counts, "the least and the greatest value");
    for (size_t k = 0; k < r.size(); k += 2)
      require(r[k] <= r[k + 1], name, " is ", r[k], " to ", r[k + 1], ", expected growing numbers");
  }
  BoxLayout layout(int dims) const {
    const char* usual = ltrb ? (dims == 2 ? "xyXY" : "xyzXYZ") : (dims == 2 ? "xyWH" : "xyzWHD");
    const Layout letters = bbox_layout.value_or(Layout(usual));
    const BoxLayout found(letters);
    require(found.dims() == dims, "argument 'bbox_layout' is ", letters, ", and the boxes have ",
            2 * dims, " coordinates");
    return found;
  }
  // Where x, y and z are in crop_shape and input_shape.
  std::array<size_t, 3> axes(int dims) const {
    const Layout usual = dims == 2 ? "WH" : "WHD", given = shape_layout.value_or(usual);
    std::array<size_t, 3> found = {};
    bool fits = given.rank() == dims;
    for (int a = 0; fits && a < dims; ++a) {
      const int at = given.find(usual.letters[a]);
      fits = at >= 0;
      found[static_cast<size_t>(a)] = static_cast<size_t>(std::max(at, 0));
    }
    require(fits, "argument 'shape_layout' is ", given, ", expected the letters ", usual,
            " in any order");
    return found;
  }
  BoxCrop rules(int dims) const {
    BoxCrop c;
    c.dims = dims;
    c.is_fixed = crop_shape.has_value();
    for (float t : thresholds) c.options.push_back({false, shortest(t)});
    if (allow_no_crop && !c.is_fixed) c.options.push_back({true, 0});
    c.by_joint_area = threshold_type == OverlapKind::kIou;
    c.all_boxes = all_boxes_above_threshold;
    if (bbox_prune_threshold) c.least_visible = shortest(*bbox_prune_threshold);
    c.attempts = num_attempts;
    c.total_attempts = total_num_attempts;
    c.scaling = {static_cast<double>(scaling[0]), static_cast<double>(scaling[1])};
    for (size_t k = 0; k < 3; ++k) {
      const size_t at = aspect_ratio.size() == 6 ? 2 * k : 0;
      c.ratio[k] = {shortest(aspect_ratio[at]), shortest(aspect_ratio[at + 1])};
    }
    const std::array<size_t, 3> at = axes(dims);
    const auto set = [&](const char* name, const Small<int>& given, double* to) {
      require_count(name, given.size(), {dims}, "one for each axis of the boxes");
      for (int a = 0; a < dims; ++a) to[a] = given[at[static_cast<size_t>(a)]];
    };
    if (input_shape) set("argument 'input_shape'", *input_shape, c.full);
    if (crop_shape) set("argument 'crop_shape'", *crop_shape, c.crop);
    return c;
  }
};

}  // namespace stoker::ops::boxes

stoker::OperatorType STOKER_OPERATOR_SYMBOL() {
  return with_output_when(stoker::type_of<stoker::ops::boxes::RandomBboxCrop>(), 3, "labels");
}
