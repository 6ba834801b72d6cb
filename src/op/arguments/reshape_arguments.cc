// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/reshape_arguments.h"

#include <cmath>

#include "op/rules.h"

namespace stoker {
namespace {

constexpr int64_t kFits = -2;  // the extent that is found at last

int64_t scaled(int64_t extent, float factor) {
  if (extent < 0) return -1;
  const double e = std::round(shortest(factor) * static_cast<double>(extent));
  require(e <= 0x1p40, "argument 'rel_shape' has ", factor, ", more than 2^40 elements");
  return static_cast<int64_t>(e);
}

// Sets the extent that was left open, and requires as many bytes as the input has, if all that
// decides this is known.
void fit(Shape& shape, DType dtype, const TensorType& in) {
  int open = -1;
  Shape others;
  for (int a = 0; a < shape.rank; ++a) {
    if (shape[a] != kFits) {
      others.push_back(shape[a]);
      continue;
    }
    require(open < 0, "only one extent of the new shape may be negative");
    open = a;
    shape[a] = -1;
  }
  const auto is_known = [](const Shape& s) {
    return s.rank >= 0 &&
           std::all_of(s.extent, s.extent + s.rank, [](int64_t e) { return e >= 0; });
  };
  require(others.is_possible(), "the new shape would be ", others, ", more than 2^40 elements");
  if (!is_known(others) || !is_known(in.shape)) return;
  const int64_t bytes = in.shape.volume() * size_of(in.dtype);
  const int64_t each = others.volume() * size_of(dtype);
  if (open < 0) {
    require(each == bytes, "the input has ", bytes, " bytes, and ", each, " in the new shape ",
            shape);
    return;
  }
  require(each > 0, "axis ", open,
          " of the new shape could have any extent, as the other axes hold no elements");
  require(bytes % each == 0, "the input has ", bytes, " bytes, which is no multiple of the ", each,
          " of the other axes of the new shape");
  shape[open] = bytes / each;
}

}  // namespace

TensorType ReshapeArguments::reshaped(const TensorType& in, DType dtype,
                                      const Small<int64_t>* extents) const {
  const int rank = in.shape.rank;
  Shape made = in.shape;
  const auto begin = [&](size_t axes) {
    require(axes <= static_cast<size_t>(kMaxRank), "the new shape has ", axes,
            " axes, expected at most ", kMaxRank);
    made = {};
  };
  if (extents) {
    begin(extents->size());
    for (int64_t e : *extents) made.push_back(e < 0 ? kFits : e);
  } else if (rel_shape || src_dims) {
    const size_t axes = rel_shape ? rel_shape->size() : src_dims->size();
    begin(axes);
    require(!src_dims || src_dims->size() == axes, "arguments 'rel_shape' and 'src_dims' have ",
            axes, " and ", src_dims ? src_dims->size() : 0, " values, expected as many");
    for (size_t i = 0; i < axes; ++i) {
      const int64_t from = src_dims ? (*src_dims)[i] : static_cast<int64_t>(i);
      const bool is_there = rank < 0 || from < rank;
      require(is_there || !src_dims, "argument 'src_dims' names axis ", from,
              " of the input, which has ", rank, " axes");
      const bool is_new = from < 0 || !is_there;
      const int64_t extent = is_new ? 1 : rank < 0 ? -1 : in.shape[static_cast<int>(from)];
      const float factor = rel_shape ? (*rel_shape)[i] : 1;
      made.push_back(factor < 0 ? kFits : scaled(extent, factor));
    }
  }
  if (!extents && !rel_shape && size_of(dtype) != size_of(in.dtype) && made.rank >= 0) {
    require(made.rank > 0, "a scalar of dtype ", name_of(in.dtype), " cannot become ",
            name_of(dtype));
    int64_t& last = made[made.rank - 1];
    require(last < 0 || last * size_of(in.dtype) % size_of(dtype) == 0, "the last axis has ",
            last * size_of(in.dtype), " bytes, which are no whole numbers of dtype ",
            name_of(dtype));
    if (last >= 0) last = last * size_of(in.dtype) / size_of(dtype);
  }
  if (made.rank >= 0) fit(made, dtype, in);
  const Layout own = made.rank == rank ? in.layout : Layout();
  require(!layout || layout->empty() || made.rank < 0 || layout->rank() == made.rank,
          "argument 'layout' is ", layout.value_or(Layout()), ", and the new shape has ", made.rank,
          " axes");
  return {dtype, layout.value_or(own), made};
}

TensorType ReshapeArguments::asked(const Checker& c, DType dtype) const {
  const bool has_shape = shape || c.is_computed("shape"), has_input = c.has(1);
  const bool has_rel = rel_shape || c.is_computed("rel_shape");
  const bool has_src = src_dims || c.is_computed("src_dims");
  require(has_shape + has_input + has_rel <= 1,
          "arguments 'shape' and 'rel_shape' and a second input exclude each other");
  require(!has_src || (!has_shape && !has_input),
          "argument 'src_dims' does not go with a shape, only with 'rel_shape'");
  const bool is_known = !has_input && has_shape == shape.has_value() &&
                        has_rel == rel_shape.has_value() && has_src == src_dims.has_value();
  if (is_known) return reshaped(c.in(), dtype, shape ? &*shape : nullptr);
  return {dtype, layout.value_or(Layout()), Shape::filled(-1, 0)};
}

TensorType ReshapeArguments::asked(const Inference& i, DType dtype) const {
  Small<int64_t> extents;
  const bool has_input = i.has(1) && i.values[1].data;
  if (has_input) from_tensor(i.values[1], extents);
  const Small<int64_t>* given = has_input ? &extents : shape ? &*shape : nullptr;
  return reshaped(i.inputs[0], dtype, given);
}

}  // namespace stoker
