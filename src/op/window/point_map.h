// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps between pictures that a matrix gives, for warp_affine and warp_perspective. A user's rows
// are for x, y, z if there is depth, and the divisor of a perspective. Blocks have the outermost
// axis first.
#pragma once
#include "kernels/block.h"
#include "op/context.h"
#include "op/schema.h"

namespace stoker {

class PointMap {
 public:
  // `matrix` has `rank` rows of rank + 1 numbers, one after the other, and one row more if it
  // `has_divisor`; the last number of a row is the offset. It leads from a point of the output to
  // one of the input, or back unless `from_output`. Throws WrongCall.
  PointMap(int rank, const Small<float>& matrix, bool from_output, bool has_divisor = false);

  // Puts the point (0, 0) at the centre of the first pixel instead of its corner.
  void begin_at_centre();

  // The caller says the rest of the Warp.
  Warp warp() const;

 private:
  static constexpr int kMost = Warp::kMost + 1;
  void invert();

  int rank_;
  double matrix_[kMost][kMost] = {};  // of homogeneous coordinates
};

struct MatrixArguments {
  Small<float> matrix = {};
  bool inverse_map = true;

 protected:
  // Whether the matrix is known when the graph is built. Throws WrongCall unless it is given once.
  bool is_matrix_known(const Checker& c) const;
  // The matrix of the second input if there is one, else the argument's.
  Small<float> numbers(const Lowering& l) const;
};
inline constexpr Port kMatrixPort = {.name = "matrix_input",
                                     .help = "The matrix, instead of the argument.",
                                     .is_optional = true,
                                     .is_value = true};
inline constexpr auto kInverseMapArgument =
    arg(&MatrixArguments::inverse_map, "inverse_map",
        "Whether the matrix leads from points of the output to points of the input. Else it leads "
        "from the input to the output.");

}  // namespace stoker
