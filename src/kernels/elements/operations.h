// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What arithmetic does with the values of one element, for CPUs and devices. All operands have one
// type; the result has the same type or is a truth value.
//
// Note [Arithmetic]
// Whole numbers wrap. // and % of whole numbers cut off towards zero, as in C; by 0 they give 0, so
// callers that can refuse it do so before. / is exact division, and so is // of floats. Shifts take
// the count modulo 32, or 64 for numbers of 64 bits. A truth value is a byte of 0 or 1. A float16
// is computed with as a float32 that is rounded after each operation.
#pragma once
#include <type_traits>

#include "kernels/convert.h"
#include "kernels/elements/exact_functions.h"

namespace stoker {

enum class Operation : uint8_t {
  // Of one value.
  kCopy,
  kMinus,
  kInvert,
  kOpposite,  // of a truth value
  kTruth,  // whether it is not 0
  kRoundHalf,  // to the nearest float16
  kAbs,
  kSqrt,
  kRsqrt,
  kCbrt,
  kExp,
  kLog,
  kLog2,
  kLog10,
  kFloor,
  kCeil,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  // Of two values.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kPower,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kMin,
  kMax,
  kAtan2,
  // Of uint64 numbers a and of int64 numbers b.
  kMixedEqual,
  kMixedUnequal,
  kMixedLess,
  kMixedLessEqual,
  kMixedGreater,
  kMixedGreaterEqual,
  // Of three values, the first of which is a truth value.
  kSelect,
};
STOKER_HD constexpr int operands_of(Operation o) {
  return o < Operation::kAdd ? 1 : o < Operation::kSelect ? 2 : 3;
}

namespace operations {

// An unsigned type in which sums and products of a T wrap; of floats the type itself.
template <class T>
struct WrappingType {
  using type = std::make_unsigned_t<T>;
};
template <>
struct WrappingType<float> {
  using type = float;
};
template <>
struct WrappingType<double> {
  using type = double;
};
template <class T>
using Wrapping = typename WrappingType<std::conditional_t<(sizeof(T) < 4), uint32_t, T>>::type;

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;

struct Copy {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return a;
  }
};
struct Minus {
  template <class T>
  STOKER_HD T operator()(T a) const {
    if constexpr (kIsFloat<T>) return -a;
    else return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
  }
};
struct Invert {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Opposite {
  STOKER_HD uint8_t operator()(uint8_t a) const { return a == 0; }
};
struct Truth {
  template <class T>
  STOKER_HD uint8_t operator()(T a) const {
    return a != T{0};
  }
};
struct RoundHalf {
  STOKER_HD float operator()(float a) const { return to_float(to_half(a)); }
};
struct Abs {
  template <class T>
  STOKER_HD T operator()(T a) const {
    if constexpr (kIsFloat<T>) return std::fabs(a);
    else if constexpr (std::is_signed_v<T>) return a < 0 ? Minus{}(a) : a;
    else return a;
  }
};
struct Floor {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return std::floor(a);
  }
};
struct Ceil {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return std::ceil(a);
  }
};
struct Sqrt {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Rsqrt {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};

template <auto F>
struct ThroughDouble {
  template <class T>
  STOKER_HD T operator()(T a) const {
    return static_cast<T>(F(static_cast<double>(a)));
  }
};
template <auto F>
struct ExactOfTwo {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(F(static_cast<double>(a), static_cast<double>(b)));
  }
};

struct Add {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Subtract {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Multiply {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Divide {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) return a / b;
    else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return Minus{}(a);
      return static_cast<T>(a / b);
    }
  }
};
struct Remainder {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) return std::fmod(a, b);
    else {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
      return static_cast<T>(a % b);
    }
  }
};
struct Power {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      return static_cast<T>(exact::power(a, b));
    } else {
      if constexpr (std::is_signed_v<T>)
        if (b < 0) return 0;
      Wrapping<T> product = 1, square = static_cast<Wrapping<T>>(static_cast<int64_t>(a));
      for (auto n = static_cast<uint64_t>(static_cast<int64_t>(b)); n; n >>= 1) {
        if (n & 1) product *= square;
        square *= square;
      }
      return static_cast<T>(product);
    }
  }
};
struct And {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
template <class T>
STOKER_HD int shift_count(T b) {
  return static_cast<int>(static_cast<uint64_t>(b) & (sizeof(T) == 8 ? 63 : 31));
}
struct ShiftLeft {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) << shift_count(b));
  }
};
struct ShiftRight {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return static_cast<T>(a >> shift_count(b));  // small numbers become int before
  }
};
struct Equal {
  template <class T>
  STOKER_HD uint8_t operator()(T a, T b) const {
    return a == b;
  }
};
struct Unequal {
  template <class T>
  STOKER_HD uint8_t operator()(T a, T b) const {
    return a != b;
  }
};
struct Less {
  template <class T>
  STOKER_HD uint8_t operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  STOKER_HD uint8_t operator()(T a, T b) const {
    return a <= b;
  }
};
// The second where either is NaN.
struct Min {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  STOKER_HD T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// -1, 0 or 1: how the uint64 number a compares to the int64 number whose bits are those of b.
STOKER_HD inline int compared(uint64_t a, uint64_t b) {
  return static_cast<int64_t>(b) < 0 || a > b ? 1 : a < b ? -1 : 0;
}
template <class Is>
struct Mixed {
  STOKER_HD uint8_t operator()(uint64_t a, uint64_t b) const { return Is{}(compared(a, b)); }
};
struct IsEqual {
  STOKER_HD bool operator()(int c) const { return c == 0; }
};
struct IsUnequal {
  STOKER_HD bool operator()(int c) const { return c != 0; }
};
struct IsLess {
  STOKER_HD bool operator()(int c) const { return c < 0; }
};
struct IsLessEqual {
  STOKER_HD bool operator()(int c) const { return c <= 0; }
};
struct IsGreater {
  STOKER_HD bool operator()(int c) const { return c > 0; }
};
struct IsGreaterEqual {
  STOKER_HD bool operator()(int c) const { return c >= 0; }
};

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class T, class Visitor>
STOKER_HD inline void with_operation_of(Operation o, Visitor&& v) {
  switch (o) {
    case Operation::kCopy: return v.template one<T, T>(Copy{});
    case Operation::kMinus: return v.template one<T, T>(Minus{});
    case Operation::kTruth: return v.template one<uint8_t, T>(Truth{});
    case Operation::kAbs: return v.template one<T, T>(Abs{});
    case Operation::kAdd: return v.template two<T, T>(Add{});
    case Operation::kSubtract: return v.template two<T, T>(Subtract{});
    case Operation::kMultiply: return v.template two<T, T>(Multiply{});
    case Operation::kDivide: return v.template two<T, T>(Divide{});
    case Operation::kRemainder: return v.template two<T, T>(Remainder{});
    case Operation::kPower: return v.template two<T, T>(Power{});
    case Operation::kEqual: return v.template two<uint8_t, T>(Equal{});
    case Operation::kUnequal: return v.template two<uint8_t, T>(Unequal{});
    case Operation::kLess: return v.template two<uint8_t, T>(Less{});
    case Operation::kLessEqual: return v.template two<uint8_t, T>(LessEqual{});
    case Operation::kMin: return v.template two<T, T>(Min{});
    case Operation::kMax: return v.template two<T, T>(Max{});
    case Operation::kSelect: return v.template select<T>();
    default: break;
  }
  if constexpr (kIsFloat<T>) {
    switch (o) {
      case Operation::kSqrt: return v.template one<T, T>(Sqrt{});
      case Operation::kRsqrt: return v.template one<T, T>(Rsqrt{});
      case Operation::kCbrt: return v.template one<T, T>(ThroughDouble<exact::cbrt>{});
      case Operation::kExp: return v.template one<T, T>(ThroughDouble<exact::exp>{});
      case Operation::kLog: return v.template one<T, T>(ThroughDouble<exact::log>{});
      case Operation::kLog2: return v.template one<T, T>(ThroughDouble<exact::log2>{});
      case Operation::kLog10: return v.template one<T, T>(ThroughDouble<exact::log10>{});
      case Operation::kFloor: return v.template one<T, T>(Floor{});
      case Operation::kCeil: return v.template one<T, T>(Ceil{});
      case Operation::kSin: return v.template one<T, T>(ThroughDouble<exact::sine>{});
      case Operation::kCos: return v.template one<T, T>(ThroughDouble<exact::cosine>{});
      case Operation::kTan: return v.template one<T, T>(ThroughDouble<exact::tangent>{});
      case Operation::kAsin: return v.template one<T, T>(ThroughDouble<exact::asin>{});
      case Operation::kAcos: return v.template one<T, T>(ThroughDouble<exact::acos>{});
      case Operation::kAtan: return v.template one<T, T>(ThroughDouble<exact::atan>{});
      case Operation::kSinh: return v.template one<T, T>(ThroughDouble<exact::sinh>{});
      case Operation::kCosh: return v.template one<T, T>(ThroughDouble<exact::cosh>{});
      case Operation::kTanh: return v.template one<T, T>(ThroughDouble<exact::tanh>{});
      case Operation::kAsinh: return v.template one<T, T>(ThroughDouble<exact::asinh>{});
      case Operation::kAcosh: return v.template one<T, T>(ThroughDouble<exact::acosh>{});
      case Operation::kAtanh: return v.template one<T, T>(ThroughDouble<exact::atanh>{});
      case Operation::kAtan2: return v.template two<T, T>(ExactOfTwo<exact::atan2>{});
      default: break;
    }
  } else {
    switch (o) {
      case Operation::kInvert: return v.template one<T, T>(Invert{});
      case Operation::kAnd: return v.template two<T, T>(And{});
      case Operation::kOr: return v.template two<T, T>(Or{});
      case Operation::kXor: return v.template two<T, T>(Xor{});
      case Operation::kShiftLeft: return v.template two<T, T>(ShiftLeft{});
      case Operation::kShiftRight: return v.template two<T, T>(ShiftRight{});
      default: break;
    }
  }
  if constexpr (std::is_same_v<T, float>)
    if (o == Operation::kRoundHalf) return v.template one<T, T>(RoundHalf{});
  if constexpr (std::is_same_v<T, uint8_t>)
    if (o == Operation::kOpposite) return v.template one<T, T>(Opposite{});
  if constexpr (std::is_same_v<T, uint64_t>) {
    switch (o) {
      case Operation::kMixedEqual: return v.template two<uint8_t, T>(Mixed<IsEqual>{});
      case Operation::kMixedUnequal: return v.template two<uint8_t, T>(Mixed<IsUnequal>{});
      case Operation::kMixedLess: return v.template two<uint8_t, T>(Mixed<IsLess>{});
      case Operation::kMixedLessEqual: return v.template two<uint8_t, T>(Mixed<IsLessEqual>{});
      case Operation::kMixedGreater: return v.template two<uint8_t, T>(Mixed<IsGreater>{});
      case Operation::kMixedGreaterEqual:
        return v.template two<uint8_t, T>(Mixed<IsGreaterEqual>{});
      default: break;
    }
  }
}

}  // namespace operations

// The type that values of type `t` have while they are computed with.
STOKER_HD constexpr DType computed_as(DType t) {
  return t == DType::kBool ? DType::kUint8 : t == DType::kFloat16 ? DType::kFloat32 : t;
}

// Calls one<To, From>(f), two<To, From>(f) or select<T>() of the visitor for the operation on
// values of type `t`, or nothing where there is none. Requires: t is neither bool nor float16.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Visitor>
STOKER_HD inline void with_operation(Operation o, DType t, Visitor&& v) {
  switch (t) {
    case DType::kUint8: return operations::with_operation_of<uint8_t>(o, v);
    case DType::kInt8: return operations::with_operation_of<int8_t>(o, v);
    case DType::kUint16: return operations::with_operation_of<uint16_t>(o, v);
    case DType::kInt16: return operations::with_operation_of<int16_t>(o, v);
    case DType::kUint32: return operations::with_operation_of<uint32_t>(o, v);
    case DType::kInt32: return operations::with_operation_of<int32_t>(o, v);
    case DType::kUint64: return operations::with_operation_of<uint64_t>(o, v);
    case DType::kInt64: return operations::with_operation_of<int64_t>(o, v);
    case DType::kFloat64: return operations::with_operation_of<double>(o, v);
    default: return operations::with_operation_of<float>(o, v);
  }
}

}  // namespace stoker
