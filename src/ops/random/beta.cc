// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/elements/beta_draws.h"
#include "kernels/elements/fill.h"
#include "op/arguments/shape_argument.h"
#include "op/type_of.h"

namespace stoker::ops::random {

struct Beta {
  float alpha = 1, beta = 1;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "random.beta",
      "Draws from a beta distribution, whose numbers lie between 0 and 1.\n\n"
      "Gives a scalar, or a tensor of independent draws with the shape that an argument or an "
      "input gives. The draws depend only on the pipeline's seed, the epoch and the sample.",
      ports({.name = "shape_like", .help = "Only its shape is used.", .is_optional = true}),
      ports({.name = "output", .help = "The draws."}),
      arg(&Beta::alpha, "alpha", "The parameter for nearness to 1.", at_least(0), kPerSample),
      arg(&Beta::beta, "beta", "The parameter for nearness to 0.", at_least(0), kPerSample),
      arg(&Beta::dtype, "dtype", "Output dtype, FLOAT or FLOAT64; default: FLOAT."),
      arg(&Beta::shape, "shape", "Shape of the output; default: a scalar.", kPerSample));

  void check(Checker& c) const {
    const DType t = dtype.value_or(DType::kFloat32);
    require(t == DType::kFloat32 || t == DType::kFloat64, "argument 'dtype' is ", name_of(t),
            ", expected float32 or float64");
    require_parameters();
    c.out({t, {}, shape_asked(shape, c)});
  }
  void infer(Inference& i) const {
    require_parameters();
    i.out({dtype.value_or(DType::kFloat32), {}, shape_asked(shape, i)});
  }
  void run_cpu(Run& r) const {
    fill_rows<double>(r.outputs[0], [&](int64_t first, int64_t n, double* to) {
      beta_draws(r.chance, first, static_cast<double>(alpha), static_cast<double>(beta), to, n);
    });
  }

  static std::vector<Case> cases() {
    return {
        {"alpha=1000.0, beta=0.000001, shape=[2]", {}, {"float32 [1, 1]"}},
        {"shape=[0], dtype=types.FLOAT64, alpha=0.5", {}, {"float64 []"}},
    };
  }

 private:
  void require_parameters() const {
    const bool are_finite = std::isfinite(alpha) && std::isfinite(beta);
    require(alpha > 0 && beta > 0 && are_finite, "arguments 'alpha' and 'beta' are ", alpha,
            " and ", beta, ", expected finite numbers greater than 0");
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::Beta)
