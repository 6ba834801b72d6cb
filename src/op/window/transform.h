// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Affine maps as matrices, which the operators transforms.* make and join.
#pragma once
#include <algorithm>

#include "kernels/elements/exact_functions.h"
#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

// x becomes M x + T, where T is the last column, in double precision.
struct Affine {
  static constexpr int kMost = kMaxRank;
  int rank;
  double m[kMost][kMost + 1] = {};

  explicit Affine(int n) : rank(n) {
    for (int i = 0; i < n; ++i) m[i][i] = 1;
  }
  static Affine of(const View& v) {
    Affine a(static_cast<int>(v.shape[0]));
    for (int i = 0; i < a.rank; ++i)
      for (int j = 0; j <= a.rank; ++j)
        a.m[i][j] = static_cast<double>(*reinterpret_cast<const float*>(
            v.as<const std::byte>() + i * v.strides[0] + j * v.strides[1]));
    return a;
  }
  // First `first`, then this map.
  Affine after(const Affine& first) const {
    Affine p(rank);
    for (int i = 0; i < rank; ++i)
      for (int j = 0; j <= rank; ++j) {
        p.m[i][j] = j == rank ? m[i][rank] : 0;
        for (int k = 0; k < rank; ++k) p.m[i][j] += m[i][k] * first.m[k][j];
      }
    return p;
  }
  // Makes this point stay where it is instead of the origin. Requires: T is 0.
  void centre_at(const std::optional<Small<float>>& point) {
    for (int i = 0; point && i < rank; ++i) {
      m[i][rank] = static_cast<double>(point->at_or_only(i));
      for (int k = 0; k < rank; ++k)
        m[i][rank] -= m[i][k] * static_cast<double>(point->at_or_only(k));
    }
  }
  void write(const View& out) const {
    auto* to = out.as<float>();
    for (int64_t i = 0; i < out.shape[0]; ++i)
      for (int64_t j = 0; j < out.shape[1]; ++j)
        *to++ = static_cast<float>(m[out.origin[0] + i][out.origin[1] + j]);
  }
  static TensorType type(int64_t n) { return {DType::kFloat32, "**", {n, n < 0 ? n : n + 1}}; }
};

// Throws WrongCall unless the tensor can be a map. Returns its number of dimensions, or -1.
inline int map_rank(const TensorType& t) {
  const Shape& s = t.shape;
  if (s.rank < 0) return -1;
  const bool is_map =
      s.rank == 2 && (s[0] < 0 || s[1] < 0 || s[1] == s[0] + 1) && s[0] <= Affine::kMost;
  require(is_map, "the matrix has the shape ", s, ", expected (n, n + 1)");
  return static_cast<int>(s[0] >= 0 ? s[0] : s[1] - 1);
}

// Op has `void dimensions(Dimensions& d) const`, and `Affine affine(int rank) const`, which makes
// the map. Both throw WrongCall.
struct Dimensions {
  int rank = 1;
  bool is_fixed = false;
  // An argument with this number of values, one for all dimensions or one for each.
  void add(const char* argument, size_t values) {
    const int n = static_cast<int>(values);
    require(n > 0 && n <= Affine::kMost, argument, " has ", n, " values, expected 1 to ",
            Affine::kMost);
    require(n == 1 || !is_fixed || n == rank, argument, " has ", n, " values, expected 1 or ",
            rank);
    if (n > 1) rank = n, is_fixed = true;
  }
  void fix(int n) {  // the map has this number of dimensions
    require(!is_fixed || rank == n, "a map of ", n, " dimensions does not fit ", rank, " values");
    rank = n, is_fixed = true;
  }
};

template <class Op>
struct Transform {
  bool reverse_order = false;

  void check(Checker& c) const {
    int rank = c.has(0) ? map_rank(c.in()) : -1;
    const bool is_known = std::none_of(c.computed.begin(), c.computed.begin() + c.names.size(),
                                       [](bool computed) { return computed; });
    if (is_known) {
      op().check_arguments();
      if (rank >= 0 || !c.has(0)) rank = rank_of(c.has(0) ? &c.inputs[0] : nullptr);
    }
    c.out(Affine::type(rank));
  }
  void infer(Inference& i) const {
    op().check_arguments();
    i.out(Affine::type(rank_of(i.has(0) ? &i.inputs[0] : nullptr)));
  }
  void run_cpu(Run& r) const {
    const Affine own = op().affine(static_cast<int>(r.outputs[0].full[0]));
    if (!r.has(0)) return own.write(r.outputs[0]);
    const Affine given = Affine::of(r.inputs[0]);
    (reverse_order ? given.after(own) : own.after(given)).write(r.outputs[0]);
  }
  void check_arguments() const {}

 private:
  friend Op;
  Transform() = default;
  const Op& op() const { return static_cast<const Op&>(*this); }
  int rank_of(const TensorType* in) const {
    Dimensions d;
    if (in) d.fix(map_rank(*in));
    op().dimensions(d);
    return d.rank;
  }
};
template <class Op>
constexpr auto reverse_order_argument() {
  return arg(&Op::reverse_order, "reverse_order",
             "Whether the map comes before that of the input, and not after it.");
}
inline constexpr auto kTransformInputs = ports({.name = "matrix",
                                                .help = "A map that comes before.",
                                                .dtypes = "float32",
                                                .is_optional = true,
                                                .unfolds = true,
                                                .makes_frames = true});
inline constexpr auto kTransformOutputs =
    ports({.name = "output",
           .help = "The map: n rows of n + 1 numbers, float32. If the input or an argument has "
                   "frames, there is a map for each."});

}  // namespace stoker
