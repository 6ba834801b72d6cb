// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/orientation.h"

#include <utility>

namespace stoker {
namespace {

// Reverses an axis: its last element becomes the view's first one.
void reverse(View& v, int axis) {
  if (v.shape[axis] > 0) v.data = v.as<char>() + v.strides[axis] * (v.shape[axis] - 1);
  v.strides[axis] = -v.strides[axis];
  v.origin[axis] = v.full[axis] - v.origin[axis] - v.shape[axis];
}

void swap_rows_and_columns(View& v) {
  for (Shape* s : {&v.shape, &v.strides, &v.origin, &v.full}) std::swap((*s)[0], (*s)[1]);
}

bool reverses_rows(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}

}  // namespace

View as_stored(const View& displayed, int orientation) {
  View v = displayed;
  if (swaps_axes(orientation)) swap_rows_and_columns(v);
  const bool columns_reversed =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  if (reverses_rows(orientation)) reverse(v, 0);
  if (columns_reversed) reverse(v, 1);
  return v;
}

int64_t stored_rows(const Window& displayed, const Shape& full, int orientation) {
  if (displayed.shape().volume() == 0) return 0;
  const int axis = swaps_axes(orientation) ? 1 : 0;
  return reverses_rows(orientation) ? full[axis] - displayed.begin[axis] : displayed.end[axis];
}

void set_displayed(ImageInfo& info, const DecodeOptions& options) {
  info.height = info.stored_height, info.width = info.stored_width;
  if (options.adjust_orientation && swaps_axes(info.orientation))
    std::swap(info.height, info.width);
  check_pixels(info, options);
}

StoredPart::StoredPart(const EncodedImage& image, const View& displayed, const Window& judged)
    : orientation(image.options.adjust_orientation ? image.info.orientation : 1), judged(judged) {
  check_window(image, displayed);
  out = as_stored(displayed, orientation);
  judged_rows = image.options.verify ? image.info.stored_height
                                     : stored_rows(judged, displayed.full, orientation);
}

ImageInfo StoredCodec::peek(EncodedSpan bytes, const DecodeOptions& options) const {
  ImageInfo info = read_info(bytes, options);
  info.format = name();
  set_displayed(info, options);
  return info;
}

void StoredCodec::decode(const EncodedImage& image, const View& out, const Window& judged,
                         Arena& scratch, int64_t) const {
  const StoredPart part(image, out, judged);
  if (!part.is_empty()) read_part(image, part, scratch);
}

}  // namespace stoker
