// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user asks for becomes output extents and the input interval that they show.
#pragma once
#include "op/value.h"

namespace stoker {

enum class ResizeMode : uint8_t { kDefault, kStretch, kNotSmaller, kNotLarger };
template <>
struct EnumNames<ResizeMode> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"default", "stretch", "not_smaller", "not_larger"};
};

inline constexpr int kMaxSpatial = 3;

// All lists are by spatial axis, outermost first.
struct ResizeRequest {
  int rank = 2;
  ResizeMode mode = ResizeMode::kDefault;
  double size[kMaxSpatial] = {};  // 0: not given; negative: mirrored
  double lo[kMaxSpatial] = {}, hi[kMaxSpatial] = {};  // the input interval; hi < lo mirrors
  double max_size[kMaxSpatial] = {};  // 0: no limit
  bool subpixel_scale = true;
};

struct ResizeResult {
  int64_t out[kMaxSpatial] = {};
  double lo[kMaxSpatial] = {}, hi[kMaxSpatial] = {};
};

// Requires: no input extent is 0.
ResizeResult resize_extents(const ResizeRequest& r);

}  // namespace stoker
