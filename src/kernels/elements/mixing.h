// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of two tensors, element by element.
#pragma once
#include "kernels/elements/boxes.h"

namespace stoker {

// own a + (1 - own) b, rounded as Note [Rounding] (kernels/block.h) says.
template <class T>
struct Mix {
  float own, other;

  explicit Mix(float own) : own(own), other(1 - own) {}
  STOKER_HD T operator()(T a, T b) const {
    using A = Arithmetic<T, T>;
    return convert<T>(detail::add_once(detail::mul_once(convert<A>(a), static_cast<A>(own)),
                                       detail::mul_once(convert<A>(b), static_cast<A>(other))));
  }
};

// Bytes are mixed in 16-bit arithmetic: the smaller share is a multiple of 2^-15, and halves are
// rounded up. A result is less than 0.51 away from the exact one.
template <>
struct Mix<uint8_t> {
  static constexpr int kBits = 15;
  int16_t lesser;  // at most a half
  bool own_is_lesser;

  explicit Mix(float own) : own_is_lesser(own < 0.5f) {
    const float share = own_is_lesser ? own : 1 - own;
    lesser = convert<int16_t>(share * (1 << kBits));
  }
  // With the arguments in the order of their shares, the greater one first.
  STOKER_HD uint8_t ordered(uint8_t greater, uint8_t less) const {
    const auto step = static_cast<int16_t>(less - greater);
    return static_cast<uint8_t>(greater + ((step * lesser + (1 << (kBits - 1))) >> kBits));
  }
  STOKER_HD uint8_t operator()(uint8_t a, uint8_t b) const {
    return own_is_lesser ? ordered(b, a) : ordered(a, b);
  }
};

struct MixOrdered {
  Mix<uint8_t> mix;
  STOKER_HD uint8_t operator()(uint8_t greater, uint8_t less) const {
    return mix.ordered(greater, less);
  }
};

// Sets `out` to the mixture of `a`, with the share `own`, and `b`. Requires: equal dtypes and
// shapes; no overlap with `out`.
inline void mix(const View& a, const View& b, float own, const View& out) {
  if (out.dtype == DType::kUint8) {
    const MixOrdered f{Mix<uint8_t>(own)};
    const bool swaps = f.mix.own_is_lesser;
    return map<uint8_t, uint8_t, uint8_t>(out, f, swaps ? b : a, swaps ? a : b);
  }
  with_type(out.dtype, [&](auto v) {
    using T = decltype(v);
    map<T, T, T>(out, Mix<T>(own), a, b);
  });
}

// A label as shares of the classes: given, or all for one class less what smoothing takes.
struct ClassShares {
  const float* given;  // null: `on` for the class, `off` for others
  int64_t label;
  float on, off;

  STOKER_HD float operator()(int64_t k) const { return given ? given[k] : k == label ? on : off; }
};

struct MixShares {
  ClassShares first, second;
  float own;
  float* out;
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    out[k] = detail::add_once(detail::mul_once(first(k), own),
                              detail::mul_once(second(k), detail::add_once(1.0f, -own)));
  }
};

}  // namespace stoker
