// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The places where a vector is not zero. The output's shape depends on the values, so there is no
// `infer`.
#include "op/type_of.h"

namespace stoker::ops::example {

struct Nonzero {
  static constexpr auto schema =
      describe("example.nonzero", "Where a vector is not zero.\n\nGives the indices, ascending.",
               ports({.name = "input", .help = "Vector.", .dtypes = "int32"}),
               ports({.name = "output", .help = "The indices."}));

  void check(Checker& c) const {
    require(c.in().shape.rank == 1, "the input is a vector, got ", c.in().shape);
    c.out({DType::kInt32, "", {-1}});
  }
  void run_cpu(Run& r) const {
    const View& in = r.inputs[0];  // all of it, perhaps with gaps
    std::vector<int32_t> found;
    for (int64_t i = 0; i < in.shape[0]; ++i)
      if (*reinterpret_cast<const int32_t*>(in.as<std::byte>() + i * in.strides[0]))
        found.push_back(static_cast<int32_t>(i));
    const View& out = r.make(0, {DType::kInt32, "", {static_cast<int64_t>(found.size())}});
    std::copy(found.begin(), found.end(), out.as<int32_t>());
  }
  static std::vector<Case> cases() {
    return {{"", {"int32 [0, 7, 0, 9]"}, {"int32 [1, 3]"}}, {"", {"int32 [-5]"}, {"int32 [0]"}}};
  }
};

}  // namespace stoker::ops::example

STOKER_OPERATOR(stoker::ops::example::Nonzero)
