// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/neighbourhood/border.h"
#include "op/arguments/border.h"
#include "op/arguments/spatial_axes.h"
#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

enum class FilterExtent : uint8_t { kSame, kValid };
template <>
struct EnumNames<FilterExtent> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"same", "valid"};
};

struct FilterWindowArguments {
  Small<int> anchor = {-1};
  Border border = Border::kReflect101;
  FilterExtent mode = FilterExtent::kSame;

  // The windows of a filter of this shape, along the axes of space. Throws WrongCall.
  std::vector<WindowAxis> axes(const TensorType& type, const Shape& filter) const {
    std::vector<WindowAxis> all;
    for (const int axis : spatial_axes(type)) all.push_back({axis, 1, 0});
    const auto rank = static_cast<int64_t>(all.size());
    require(filter.rank == rank && filter.volume() > 0, "the filter has the shape ", filter,
            ", expected ", rank, " axes that are not empty");
    require_count("argument 'anchor'", anchor.size(), {1, rank}, "one per axis of the filter");
    for (int i = 0; i < filter.rank; ++i) {
      const int64_t at = anchor.at_or_only(static_cast<size_t>(i)), size = filter[i];
      require(at < size, "argument 'anchor' has ", at, ", and the filter the shape ", filter);
      WindowAxis& w = all[static_cast<size_t>(i)];
      w.size = size;
      w.anchor = mode == FilterExtent::kValid ? 0 : at < 0 ? size / 2 : at;
    }
    return all;
  }
  // The input's shape, less what mode='valid' takes off. Throws WrongCall.
  Shape filtered(const TensorType& in, const Shape& filter) const {
    Shape shape = in.shape;
    for (const WindowAxis& w : axes(in, filter)) {
      if (mode == FilterExtent::kSame) continue;
      shape[w.axis] -= w.size - 1;
      require(shape[w.axis] > 0, "the filter, of shape ", filter, ", does not fit into shape ",
              in.shape);
    }
    return shape;
  }
};
inline constexpr auto kFilterWindowArguments = std::tuple{
    arg(&FilterWindowArguments::anchor, "anchor",
        "The place in the filter of the value that is made, for each of its axes or one number for "
        "all; -1 is the middle. No effect under mode='valid'.",
        at_least(-1), kPerFrame),
    arg(&FilterWindowArguments::border, "border", kBorderHelp),
    arg(&FilterWindowArguments::mode, "mode",
        "'same': the output has the input's size. 'valid': it has only what is made of the input "
        "alone.")};

}  // namespace stoker
