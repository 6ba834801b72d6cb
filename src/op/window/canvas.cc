// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/canvas.h"

#include <algorithm>
#include <cmath>

namespace stoker {

CanvasAxes::CanvasAxes(const TensorType& t) {
  for (int a = 0; a < t.layout.rank(); ++a)
    if (const char c = t.layout.letters[a]; c == 'D' || c == 'H' || c == 'W')
      extent[rank] = t.shape[a], axis[rank++] = a;
}

void SizeArgument::set_size(const CanvasAxes& axes, int64_t* canvas) const {
  constexpr int64_t kEnd = int64_t{1} << 28;  // Warp
  if (!size.empty())
    require_count("argument 'size'", size.size(), {axes.rank}, "one for each of the axes D, H, W");
  for (int i = 0; i < axes.rank; ++i) {
    if (!size.empty()) {
      const double given = size[static_cast<size_t>(i)];
      require(given >= 0.5 && given < kEnd - 1, "argument 'size' is not a size: ", given);
      canvas[i] = std::lround(given);
    }
    require(canvas[i] < kEnd && axes.extent[i] < kEnd, "an axis of ", canvas[i],
            " positions is too long");
  }
}

Warp SizeArgument::on_canvas(const CanvasAxes& axes, Warp w) const {
  std::copy_n(axes.axis, axes.rank, w.axis);
  std::copy_n(axes.extent, axes.rank, w.out);
  set_size(axes, w.out);
  return w;
}

void CanvasArguments::set_canvas(const CanvasAxes& axes, int64_t* canvas) const {
  if (keep_size) std::copy_n(axes.extent, axes.rank, canvas);
  set_size(axes, canvas);
}

}  // namespace stoker
