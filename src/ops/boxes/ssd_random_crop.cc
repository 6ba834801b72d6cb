// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"
#include "op/window/box_rows.h"

namespace stoker::ops::boxes {

struct SsdRandomCrop {
  int num_attempts = 1;

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "ssd_random_crop",
      "Crops a picture as SSD is trained, and its boxes with it.\n\n"
      "It leaves the picture as it is, or cuts out a window that all boxes overlap by at least 0, "
      "0.1, 0.3, 0.5, 0.7 or 0.9 of the joint area: seven possibilities, equally likely. Width and "
      "height of windows are 0.3 to 1 of the picture's and differ by a factor of at most 2. Boxes "
      "stay whose centre lies in the window. random_bbox_crop does this and more.",
      ports({.name = "images", .help = "A picture.", .layouts = "HWC"},
            {.name = "boxes",
             .help = "Rows of left, top, right, bottom, shares of the extents, from 0 to 1.",
             .dtypes = "float32"},
            {.name = "labels", .help = "A label, or a row of labels, for each box."}),
      ports({.name = "window", .help = "What the window shows."},
            {.name = "boxes_left",
             .help = "The boxes that are left, cut to the window, as shares of its extents."},
            {.name = "labels_left", .help = "The labels of these."}),
      arg(&SsdRandomCrop::num_attempts, "num_attempts",
          "How many windows to draw before another possibility is drawn.", at_least(1)));

  void check(Checker& c) const {
    const Shape& s = c.in(1).shape;
    require(s.rank < 0 || (s.rank == 2 && (s[1] < 0 || s[1] == 4)), "the boxes have the shape ", s,
            ", expected (N, 4)");
    TensorType image = c.in();
    image.shape[0] = image.shape[1] = -1;
    c.out(image);
    c.out({DType::kFloat32, {}, {-1, 4}});
    TensorType labels = c.in(2);
    require(labels.shape.rank != 0, "the labels are one number, expected a list");
    if (labels.shape.rank > 0) labels.shape[0] = -1;
    c.out(labels);
  }

  void run_cpu(Run& r) const {
    const View &image = r.inputs[0], &in = r.inputs[1];
    require(in.full.rank == 2 && in.full[1] == 4, "the boxes have the shape ", in.full,
            ", expected (N, 4)");
    const BoxLayout order("xyXY");
    const std::vector<SpaceBox> boxes = boxes_of(in, order);
    BoxCrop rules;
    rules.options = {{true, 0},    {false, 0.1}, {false, 0.3}, {false, 0.5},
                     {false, 0.7}, {false, 0.9}, {false, 0}};
    rules.attempts = num_attempts;
    rules.scaling = {0.3, 1};
    rules.ratio[0] = {0.5, 2};
    const BoxCrop::Found f = rules.draw(boxes, r.chance);

    View part = image;
    for (int a = 0; a < 2; ++a) {  // height, then width
      const auto at = [&](double share) {
        return std::llround(share * static_cast<double>(image.full[a]));
      };
      const int64_t last = std::max<int64_t>(image.full[a] - 1, 0);
      const int64_t begin = std::min<int64_t>(at(f.window.lo[1 - a]), last);
      const int64_t end = std::min<int64_t>(at(f.window.hi[1 - a]), image.full[a]);
      part.shape[a] = std::max(end - begin, std::min<int64_t>(image.full[a], 1));
      part.data = part.as<std::byte>() + begin * part.strides[a];
    }
    copy_to_dense(part, r.make(0, {image.dtype, image.layout, part.shape}).data);
    give_boxes(r, 1, f, order, boxes, 1);
    give_rows(r, 2, f.kept, 2, in.full[0]);
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"uint8 HWC [[[7]]]", "float32 [[0, 0, 1, 1]]", "int32 [3]"},
         {"uint8 [[[7]]]", "float32 [[0, 0, 1, 1]]", "int32 [3]"}},
        {"num_attempts=9",
         {"float32 HWC [[[1, 2]]]", "float32 [[0, 0, 1, 1]]", "int32 [[3]]"},
         {"float32 [[[1, 2]]]", "float32 [[0, 0, 1, 1]]", "int32 [[3]]"}},
    };
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::SsdRandomCrop)
