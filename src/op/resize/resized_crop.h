// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Resizing, a crop of the result, and its mirror image.
#pragma once
#include "op/resize/resize_arguments.h"
#include "op/window/crop_window.h"

namespace stoker {

struct ResizedCrop : ResizeArguments, CropArguments {
  int mirror = 0;

  static constexpr std::array kIgnored = kIgnoredResizeArguments;

  void check(Checker& c) const {
    TensorType t = checked_resize(c);
    t.shape = checked_crop(*this, OutOfBounds::kError, c, t);
    c.out(t);
  }
  void lower(Lowering& l) const {
    const Block resized = resample(l.type());
    l.add(resized.kind, resized.result);
    const TensorType in = l.type();
    const Window w = crop_window(*this, std::nullopt, in);
    Gather g;
    for (int a = 0; a < in.shape.rank; ++a) g.axis[a] = {w.begin[a], 1, w.end[a] - w.begin[a]};
    for (int bit = 0; bit < 3; ++bit) {
      const int axis = in.layout.find("WHD"[bit]);
      if (!(mirror >> bit & 1) || axis < 0) continue;
      AxisMap& m = g.axis[axis];
      m = {m.start + m.extent - 1, -1, m.extent};
    }
    l.add(g, in.dtype);
  }
};
inline constexpr auto kResizedCropInputs =
    ports({.name = "input",
           .help = "Image, volume or sequence.",
           .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW, CFHW, CFDHW"});
inline constexpr auto kResizedCropOutputs = ports({.name = "output", .help = "The window."});
inline constexpr auto kResizedCropArguments =
    std::tuple_cat(kResizeArguments, kFilterArguments, std::tuple{kDtypeArgument}, kCropArguments,
                   kCropDepthArguments,
                   std::tuple{arg(&ResizedCrop::mirror, "mirror",
                                  "1 swaps left and right, 2 top and bottom, 4 front and back of a "
                                  "volume; sums of these do several.",
                                  between(0, 7), kPerSample)});

}  // namespace stoker
