// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The size of what a warp makes.
#pragma once
#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

// The axes D, H and W, outermost first.
struct CanvasAxes {
  int rank = 0;
  int axis[Warp::kMost] = {};
  int64_t extent[Warp::kMost] = {};

  explicit CanvasAxes(const TensorType& t);
};

struct SizeArgument {
  Small<float> size = {};

  // Replaces the size that the operator has found if the argument says so. Throws WrongCall.
  void set_size(const CanvasAxes& axes, int64_t* canvas) const;
  // The warp on these axes, of that size or the input's. Throws WrongCall.
  Warp on_canvas(const CanvasAxes& axes, Warp w = {}) const;
};
inline constexpr auto kSizeArgument =
    arg(&SizeArgument::size, "size", "Output size, (H, W) or (D, H, W); rounded to whole pixels.",
        kPerSample);

struct CanvasArguments : SizeArgument {
  bool keep_size = false;

  // Replaces the size that the operator has found, if the arguments say so. Throws WrongCall.
  void set_canvas(const CanvasAxes& axes, int64_t* canvas) const;

 protected:
  // The output's type as far as it is known before the run. made(type) has the shape for an input
  // of known shape. `computed`: whether another node computes what decides it.
  template <class Made>
  TensorType checked_canvas(const Checker& c, TensorType in, bool computed,
                            const Made& made) const {
    require(!keep_size || (size.empty() && !c.is_computed("size")),
            "arguments 'size' and 'keep_size' do not go together");
    const CanvasAxes axes(in);
    // Unknown extents become one, so that the rules are checked in any case.
    TensorType some = in;
    for (int a = 0; a < in.shape.rank; ++a) some.shape[a] = std::max<int64_t>(some.shape[a], 1);
    if (!computed) some.shape = made(some);
    for (int i = 0; i < axes.rank; ++i) {
      const bool own = !size.empty() || *std::min_element(axes.extent, axes.extent + axes.rank) > 0;
      if (!keep_size) in.shape[axes.axis[i]] = own && !computed ? some.shape[axes.axis[i]] : -1;
    }
    return in;
  }
};
inline constexpr auto kCanvasArguments = std::tuple{
    arg(&CanvasArguments::keep_size, "keep_size", "Whether the output has the input's size."),
    kSizeArgument};

}  // namespace stoker
