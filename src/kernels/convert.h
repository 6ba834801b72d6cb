// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion of values between types, and Pointwise: Note [Rounding] in kernels/block.h.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "base/types.h"

namespace stoker {

// A boolean in one byte. Any byte but 0 is true; true is written as 1.
struct Bool {
  uint8_t byte = 0;
};

// Calls f with a value of the C++ type of `t`. Requires: t is not kNone.
#ifdef __CUDACC__
#pragma nv_exec_check_disable  // f may be a host function; then this is called on the host only
#endif
template <class F>
STOKER_HD inline void with_type(DType t, F&& f) {
  switch (t) {
    case DType::kUint8: return f(uint8_t{});
    case DType::kInt8: return f(int8_t{});
    case DType::kUint16: return f(uint16_t{});
    case DType::kInt16: return f(int16_t{});
    case DType::kUint32: return f(uint32_t{});
    case DType::kInt32: return f(int32_t{});
    case DType::kUint64: return f(uint64_t{});
    case DType::kInt64: return f(int64_t{});
    case DType::kFloat16: return f(Half{});
    case DType::kFloat64: return f(double{});
    case DType::kBool: return f(Bool{});
    default: return f(float{});
  }
}

// Calls f with an unsigned number of 1, 2, 4 or 8 bytes, for code that only moves elements.
template <class F>
inline void with_size(int bytes, F&& f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

STOKER_HD constexpr bool is_narrow(DType t) {
  switch (t) {
    case DType::kUint32:
    case DType::kInt32:
    case DType::kUint64:
    case DType::kInt64:
    case DType::kFloat64: return false;
    default: return true;
  }
}

namespace detail {

template <class T>
inline constexpr T kLowest = std::numeric_limits<T>::min();
template <class T>
inline constexpr T kHighest = std::numeric_limits<T>::max();

// Rounded once. Needed where others inline it; our own flags never contract a product and a sum.
#ifdef __CUDA_ARCH__
STOKER_HD inline float add_once(float a, float b) { return __fadd_rn(a, b); }
STOKER_HD inline float mul_once(float a, float b) { return __fmul_rn(a, b); }
STOKER_HD inline double add_once(double a, double b) { return __dadd_rn(a, b); }
STOKER_HD inline double mul_once(double a, double b) { return __dmul_rn(a, b); }
STOKER_HD inline float div_once(float a, float b) { return __fdiv_rn(a, b); }
STOKER_HD inline double div_once(double a, double b) { return __ddiv_rn(a, b); }
#else
STOKER_HD inline float add_once(float a, float b) { return a + b; }
STOKER_HD inline float mul_once(float a, float b) { return a * b; }
STOKER_HD inline double add_once(double a, double b) { return a + b; }
STOKER_HD inline double mul_once(double a, double b) { return a * b; }
STOKER_HD inline float div_once(float a, float b) { return a / b; }
STOKER_HD inline double div_once(double a, double b) { return a / b; }
#endif

// The number just below a half. Added before the fraction is cut off, it rounds halves away from
// zero: only from a half on does the rounded sum reach the next whole number.
template <class F>
inline constexpr F kBelowHalf = F(0.5) - std::numeric_limits<F>::epsilon() / 4;

// Rounds to nearest, halves away from zero, and saturates; NaN becomes 0.
template <class I, class F>
STOKER_HD inline I round_to(F v) {
  constexpr F kLow = static_cast<F>(kLowest<I>);
  constexpr F kHigh = static_cast<F>(kHighest<I>);  // rounded up where F cannot hold it exactly
  if constexpr (sizeof(I) < sizeof(F)) {  // both limits are exact; without branches
    F x = v == v ? v : F(0);
    x = x < kLow ? kLow : x;
    x = x > kHigh ? kHigh : x;
    x = add_once(x, std::copysign(kBelowHalf<F>, x));
    return static_cast<I>(static_cast<std::conditional_t<(sizeof(I) < 4), int32_t, int64_t>>(x));
  }
  if (v != v) return 0;
  if (v >= kHigh) return kHighest<I>;
  if (v <= kLow) return kLowest<I>;
  return static_cast<I>(add_once(v, std::copysign(kBelowHalf<F>, v)));
}

template <class To, class From>
STOKER_HD inline To saturate(From v) {
  using std::numeric_limits;
  constexpr bool kBelow =
      std::is_signed_v<From> && (std::is_unsigned_v<To> || sizeof(To) < sizeof(From));
  constexpr bool kAbove = numeric_limits<To>::digits < numeric_limits<From>::digits;
  if constexpr (kBelow) v = v < From{kLowest<To>} ? From{kLowest<To>} : v;
  if constexpr (kAbove) v = v > From{kHighest<To>} ? From{kHighest<To>} : v;
  return static_cast<To>(v);
}

template <class From>
STOKER_HD inline Half half_of(From v) {
  if constexpr (std::is_floating_point_v<From>) return to_half(v);
  else
    return to_half(static_cast<float>(saturate<int32_t>(v) < -65536  ? -65536
                                      : saturate<int32_t>(v) > 65536 ? 65536
                                                                     : saturate<int32_t>(v)));
}

}  // namespace detail

// The value in another type: exact where it fits, else rounded and saturated: Note [Rounding].
template <class To, class From>
STOKER_HD inline To convert(From v) {
  using namespace detail;
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(static_cast<uint8_t>(v.byte != 0));
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(to_float(v));
  } else if constexpr (std::is_same_v<To, Bool>) {
    if constexpr (std::is_floating_point_v<From>)
      return {static_cast<uint8_t>(!(std::fabs(v) < From(0.5)))};
    else return {static_cast<uint8_t>(v != From{0})};
  } else if constexpr (std::is_same_v<To, Half>) {
    return half_of(v);
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(v);
  } else if constexpr (std::is_floating_point_v<From>) {
    return round_to<To>(v);
  } else {
    return saturate<To>(v);
  }
}

template <class T>
inline constexpr bool kIsWide =
    std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) >= 4);
STOKER_HD constexpr bool is_wide(DType t) { return !is_narrow(t); }

// The type of the arithmetic from one type to another.
template <class To, class From>
using Arithmetic = std::conditional_t<kIsWide<To> || kIsWide<From>, double, float>;

template <class To, class From>
STOKER_HD inline To pointwise(From v, float sub, float mul, float add, float div = 1) {
  using A = Arithmetic<To, From>;
  const A x =
      detail::mul_once(detail::add_once(convert<A>(v), -static_cast<A>(sub)), static_cast<A>(mul));
  const A y = div == 1 ? x : detail::div_once(x, static_cast<A>(div));
  return convert<To>(detail::add_once(y, static_cast<A>(add)));
}

// Converts a row of n values, or applies Pointwise to it. Strides are in bytes. Requires: `in` and
// `out` do not overlap, or are the same memory and both types have the same size.
void convert_row(const void* in, DType from, int64_t in_stride, void* out, DType to,
                 int64_t out_stride, int64_t n);
inline void convert_row(const void* in, DType from, void* out, DType to, int64_t n) {
  convert_row(in, from, size_of(from), out, to, size_of(to), n);
}
void pointwise_row(const void* in, DType from, void* out, DType to, int64_t n, float sub, float mul,
                   float add, float div = 1);

}  // namespace stoker
