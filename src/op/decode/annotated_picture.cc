// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/decode/annotated_picture.h"

#include <algorithm>
#include <cstdlib>

#include "codec/orientation.h"

namespace stoker {

namespace {

// As in an annotation: 0 where nothing is said.
struct Extents {
  int64_t height, width;

  bool are_known() const { return height > 0 && width > 0; }
  bool fit(const Extents& picture) const {
    return (height == 0 || height == picture.height) && (width == 0 || width == picture.width);
  }
  bool operator==(const Extents&) const = default;
  std::string str() const {
    const auto extent = [](int64_t n) { return n ? std::to_string(n) : "?"; };
    return extent(width) + " wide and " + extent(height) + " high";
  }
};

// Whether one picture is the other at another scale, to within a pixel.
bool are_of_one_form(const Extents& a, const Extents& b) {
  return a.are_known() && std::abs(a.height * b.width - b.height * a.width) <=
                              std::max({a.height, a.width, b.height, b.width});
}

std::string way_out(const EncodedImage& image, const Extents& annotated) {
  const ImageInfo& info = image.info;
  const Extents stored{info.stored_height, info.stored_width};
  const bool swaps = swaps_axes(info.orientation);
  if (image.options.adjust_orientation && swaps && annotated.fit(stored))
    return "adjust_orientation=False keeps the stored pixels, to which the annotation fits; or "
           "annotate the picture as it is displayed";
  if (!image.options.adjust_orientation && swaps && annotated.fit({stored.width, stored.height}))
    return "adjust_orientation=True displays it as it was annotated";
  return "annotate the picture anew, or restore the one that was annotated";
}

std::string difference(const EncodedImage& image, const AnnotatedPicture& a, const Extents& shown) {
  std::string s = (a.is_assumed ? "the annotation says no extents, so it is taken to be of the "
                                  "picture as it is stored, "
                                : "the annotation is of a picture that is ") +
                  Extents{a.height, a.width}.str() + ", and this one is " + shown.str();
  if (!swaps_axes(image.info.orientation)) return s;
  return s + (image.options.adjust_orientation ? ", as" : ", before") + " its orientation, " +
         std::to_string(image.info.orientation) + " of EXIF, turns it";
}

}  // namespace

void compare_with_annotation(const EncodedImage& image, Inference& i) {
  if (!i.annotated) return;
  const AnnotatedPicture& a = *i.annotated;
  const ImageInfo& info = image.info;
  const Extents annotated{a.height, a.width}, shown{info.height, info.width},
      stored{info.stored_height, info.stored_width};
  if (!annotated.fit(shown)) {
    const std::string found = difference(image, a, shown);
    if (!a.is_relative || !are_of_one_form(annotated, shown))
      throw SampleError(found + ": " + way_out(image, annotated));
    i.remarks.push_back({found, "boxes that are parts of the extents fit if it was only scaled"});
  }
  const bool is_told = annotated.are_known() && shown != stored;
  if (image.options.adjust_orientation && info.orientation != 1 && !is_told)
    i.remarks.push_back(
        {"orientation " + std::to_string(info.orientation) +
             " of EXIF turns the picture, and the annotation does not tell whether it is of the "
             "picture before or after that",
         "look at a few; where boxes fit the stored pixels, adjust_orientation=False keeps these"});
}

void remark_on_boxes_outside(Reading& r, std::span<const float> boxes) {
  const int64_t extents[] = {r.annotated->width, r.annotated->height};
  for (size_t k = 0; k < boxes.size(); ++k) {
    const int64_t all = extents[k % 2];
    if (all == 0 || (boxes[k] >= -1 && boxes[k] <= static_cast<float>(all) + 1)) continue;
    r.remarks.push_back({"box " + std::to_string(k / 4) +
                             " reaches outside of the picture, which is " +
                             Extents{r.annotated->height, r.annotated->width}.str(),
                         "boxes are handed on as they are"});
    return;
  }
}

}  // namespace stoker
