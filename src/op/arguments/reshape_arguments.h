// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/context.h"
#include "op/schema.h"

namespace stoker {

struct ReshapeArguments {
  std::optional<Small<int64_t>> shape;
  std::optional<Small<float>> rel_shape;
  std::optional<Small<int64_t>> src_dims;
  std::optional<Layout> layout;

 protected:
  // The output's type as far as it is known when the graph is built. Throws WrongCall.
  TensorType asked(const Checker& c, DType dtype) const;
  // The output's type for a sample, with as many bytes as the input. Throws WrongCall.
  TensorType asked(const Inference& i, DType dtype) const;

 private:
  TensorType reshaped(const TensorType& in, DType dtype, const Small<int64_t>* extents) const;
};

inline constexpr Port kShapePort = {.name = "shape_input",
                                    .help = "The shape, instead of the argument 'shape'.",
                                    .is_optional = true,
                                    .is_value = true};
inline constexpr auto kReshapeArguments = std::tuple{
    arg(&ReshapeArguments::shape, "shape",
        "The new shape. One extent may be -1: it becomes what fits.", at_least(-1), kPerSample),
    arg(&ReshapeArguments::rel_shape, "rel_shape",
        "The new extents as multiples of old ones, rounded; an axis that the input lacks counts as "
        "one of extent 1. One may be negative: it becomes what fits. Excludes shape.",
        kPerSample),
    arg(&ReshapeArguments::src_dims, "src_dims",
        "For each new axis the old one whose extent it takes, times that of rel_shape if that is "
        "given; -1 is a new axis of extent 1. A shape besides is refused.",
        at_least(-1), kPerSample),
    arg(&ReshapeArguments::layout, "layout",
        "Layout of the output, one letter per axis; '' is none. Default: the input's, if that has "
        "as many axes.")};

}  // namespace stoker
