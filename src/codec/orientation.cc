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

}  // namespace

View as_stored(const View& displayed, int orientation) {
  View v = displayed;
  if (swaps_axes(orientation)) swap_rows_and_columns(v);
  const bool rows_reversed =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool columns_reversed =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  if (rows_reversed) reverse(v, 0);
  if (columns_reversed) reverse(v, 1);
  return v;
}

}  // namespace stoker
