// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of floats, loaded from and stored to any type whose values all fit into float32, rounded
// as by kernels/convert.h. Compiled for each target, as Highway's -inl files are.
#include <type_traits>

#include "base/types.h"
#include "kernels/convert.h"

#if defined(STOKER_NARROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_NARROW_INL_H
#undef STOKER_NARROW_INL_H
#else
#define STOKER_NARROW_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> df;
const hn::RebindToSigned<decltype(df)> di;
using F = hn::Vec<decltype(df)>;
using I = hn::Vec<decltype(di)>;
template <class T>
using Narrow = hn::Rebind<T, decltype(df)>;

HWY_INLINE F HalfToFloat(I half) {
  const I rest = hn::And(half, hn::Set(di, 0x7fff)),
          sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(di, 0x8000)));
  const I small = hn::BitCast(di, hn::Mul(hn::ConvertTo(df, rest), hn::Set(df, 0x1p-24f)));
  const I bias = hn::IfThenElse(hn::Lt(rest, hn::Set(di, 0x7c00)), hn::Set(di, 112 << 23),
                                hn::Set(di, 224 << 23));
  const I normal = hn::Add(hn::ShiftLeft<13>(rest), bias);
  return hn::BitCast(df,
                     hn::Or(sign, hn::IfThenElse(hn::Lt(rest, hn::Set(di, 0x400)), small, normal)));
}

HWY_INLINE I FloatToHalf(F v) {
  const I bits = hn::BitCast(di, v), x = hn::And(bits, hn::Set(di, 0x7fffffff));
  const I sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 0x8000));
  const I aligned = hn::BitCast(di, hn::Add(hn::BitCast(df, x), hn::Set(df, 0.5f)));
  const I small = hn::Sub(aligned, hn::Set(di, 0x3f000000));
  const I odd = hn::And(hn::ShiftRight<13>(x), hn::Set(di, 1));
  const I rounded = hn::ShiftRight<13>(hn::Add(x, hn::Add(odd, hn::Set(di, 0xfff))));
  const I normal = hn::Min(hn::Sub(rounded, hn::Set(di, 112 << 10)), hn::Set(di, 0x7c00));
  const I number = hn::IfThenElse(hn::Lt(x, hn::Set(di, 0x38800000)), small, normal);
  return hn::Or(sign,
                hn::IfThenElse(hn::Gt(x, hn::Set(di, 0x7f800000)), hn::Set(di, 0x7e00), number));
}

HWY_INLINE void StoreHalf(F v, void* p) {
#if HWY_TARGET <= HWY_AVX2
  // The CPU rounds as FloatToHalf does, but keeps the payload of a NaN.
  const F sign = hn::And(v, hn::BitCast(df, hn::Set(di, INT32_MIN)));
  const F nan = hn::Or(sign, hn::BitCast(df, hn::Set(di, 0x7fc00000)));
  const Narrow<hwy::float16_t> dh;
  hn::StoreU(hn::DemoteTo(dh, hn::IfThenElse(hn::Eq(v, v), v, nan)), dh,
             static_cast<hwy::float16_t*>(p));
#else
  hn::StoreU(hn::DemoteTo(Narrow<uint16_t>(), FloatToHalf(v)), Narrow<uint16_t>(),
             static_cast<uint16_t*>(p));
#endif
}

// Cuts off the fraction. Requires: the result fits.
HWY_INLINE I Truncate(F v) {
#if HWY_TARGET <= HWY_AVX3
  return I{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET <= HWY_AVX2
  return I{_mm256_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(di, v);
#endif
}
HWY_INLINE I ToInteger(F v, float low, float high) {
  const F number = hn::IfThenElseZero(hn::Eq(v, v), v);
  const F within = hn::Min(hn::Max(number, hn::Set(df, low)), hn::Set(df, high));
  const F half = hn::Set(df, detail::kBelowHalf<float>);
  return Truncate(hn::Add(within, low < 0 ? hn::CopySign(half, within) : half));
}
// 0 or 1.
HWY_INLINE F Truth(F v) {
  return hn::IfThenZeroElse(hn::Lt(hn::Abs(v), hn::Set(df, 0.5f)), hn::Set(df, 1));
}
// The value that is read back after v was stored as type `t`.
HWY_INLINE F Round(DType t, F v) {
  switch (t) {
    case DType::kUint8: return hn::ConvertTo(df, ToInteger(v, 0, 255));
    case DType::kInt8: return hn::ConvertTo(df, ToInteger(v, -128, 127));
    case DType::kUint16: return hn::ConvertTo(df, ToInteger(v, 0, 65535));
    case DType::kInt16: return hn::ConvertTo(df, ToInteger(v, -32768, 32767));
    case DType::kFloat16: return HalfToFloat(FloatToHalf(v));
    case DType::kBool: return Truth(v);
    default: return v;
  }
}

// Calls f with the type as a constant, so that the functions here compile without branches.
template <class Fn>
HWY_INLINE void OnType(DType t, Fn&& f) {
  switch (t) {
    case DType::kUint8: return f(std::integral_constant<DType, DType::kUint8>());
    case DType::kInt8: return f(std::integral_constant<DType, DType::kInt8>());
    case DType::kUint16: return f(std::integral_constant<DType, DType::kUint16>());
    case DType::kInt16: return f(std::integral_constant<DType, DType::kInt16>());
    case DType::kFloat16: return f(std::integral_constant<DType, DType::kFloat16>());
    case DType::kBool: return f(std::integral_constant<DType, DType::kBool>());
    default: return f(std::integral_constant<DType, DType::kFloat32>());
  }
}

template <class T>
HWY_INLINE I LoadInteger(const void* p) {
  return hn::PromoteTo(di, hn::LoadU(Narrow<T>(), static_cast<const T*>(p)));
}
HWY_INLINE F Load(DType t, const void* p) {
  switch (t) {
    case DType::kUint8: return hn::ConvertTo(df, LoadInteger<uint8_t>(p));
    case DType::kInt8: return hn::ConvertTo(df, LoadInteger<int8_t>(p));
    case DType::kUint16: return hn::ConvertTo(df, LoadInteger<uint16_t>(p));
    case DType::kInt16: return hn::ConvertTo(df, LoadInteger<int16_t>(p));
    case DType::kFloat16: return HalfToFloat(LoadInteger<uint16_t>(p));
    case DType::kBool: return hn::ConvertTo(df, hn::Min(LoadInteger<uint8_t>(p), hn::Set(di, 1)));
    default: return hn::LoadU(df, static_cast<const float*>(p));
  }
}

template <class T>
HWY_INLINE void StoreInteger(I v, void* p) {
  hn::StoreU(hn::DemoteTo(Narrow<T>(), v), Narrow<T>(), static_cast<T*>(p));
}
HWY_INLINE void Store(DType t, F v, void* p) {
  switch (t) {
    case DType::kUint8: return StoreInteger<uint8_t>(ToInteger(v, 0, 255), p);
    case DType::kInt8: return StoreInteger<int8_t>(ToInteger(v, -128, 127), p);
    case DType::kUint16: return StoreInteger<uint16_t>(ToInteger(v, 0, 65535), p);
    case DType::kInt16: return StoreInteger<int16_t>(ToInteger(v, -32768, 32767), p);
    case DType::kFloat16: return StoreHalf(v, p);
    case DType::kBool: return StoreInteger<uint8_t>(hn::ConvertTo(di, Truth(v)), p);
    default: return hn::StoreU(v, df, static_cast<float*>(p));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#endif
