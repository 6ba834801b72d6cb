// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A value whose type is known only at run time, in few forms of arithmetic, for device code.
#pragma once
#include "kernels/convert.h"
#include "kernels/fused_device/vector_access.h"

namespace stoker {

// Types that fit are held as float and 32-bit integers as double, exactly. A bool keeps its byte.
struct DeviceValue {
  DType type;
  union {
    float f;
    double d;
    int64_t i;
    uint64_t u;
  };
};

namespace detail {

STOKER_HD inline void hold(DeviceValue& v, float x) { v.f = x; }
STOKER_HD inline void hold(DeviceValue& v, double x) { v.d = x; }
STOKER_HD inline void hold(DeviceValue& v, int64_t x) { v.i = x; }
STOKER_HD inline void hold(DeviceValue& v, uint64_t x) { v.u = x; }
STOKER_HD inline void hold(DeviceValue& v, Half x) { v.f = to_float(x); }
STOKER_HD inline void hold(DeviceValue& v, Bool x) { v.f = x.byte; }
STOKER_HD inline void hold(DeviceValue& v, int32_t x) { v.d = x; }
STOKER_HD inline void hold(DeviceValue& v, uint32_t x) { v.d = x; }
template <class T>
STOKER_HD inline void hold(DeviceValue& v, T x) {
  v.f = static_cast<float>(x);
}

// Calls f with the number in the type that holds it.
template <class F>
STOKER_HD inline auto number(const DeviceValue& v, F&& f) {
  switch (v.type) {
    case DType::kInt64: return f(v.i);
    case DType::kUint64: return f(v.u);
    case DType::kFloat64:
    case DType::kInt32:
    case DType::kUint32: return f(v.d);
    case DType::kBool: return f(v.f != 0 ? 1.0f : 0.0f);
    default: return f(v.f);
  }
}

struct Sizing {
  int& size;
  template <class T>
  STOKER_HD void operator()(T) const {
    size = sizeof(T);
  }
};
struct Loading {
  const std::byte* from;
  DeviceValue& v;
  template <class T>
  STOKER_HD void operator()(T) const {
    hold(v, load_as<T>(from));
  }
};
template <class T>
struct Write {
  std::byte* to;
  template <class X>
  STOKER_HD void operator()(X x) const {
    store_as(to, convert<T>(x));
  }
};
template <class T>
struct Hold {
  DeviceValue& to;
  template <class X>
  STOKER_HD void operator()(X x) const {
    hold(to, convert<T>(x));
  }
};
struct Storing {
  std::byte* to;
  const DeviceValue& v;
  template <class T>
  STOKER_HD void operator()(T) const {
    number(v, Write<T>{to});
  }
};
struct Converting {
  const DeviceValue& from;
  DeviceValue& to;
  template <class T>
  STOKER_HD void operator()(T) const {
    number(from, Hold<T>{to});
  }
};
template <class A>
struct Number {
  template <class X>
  STOKER_HD A operator()(X x) const {
    return convert<A>(x);
  }
};

}  // namespace detail

// size_of(), which no device code may call.
STOKER_HD inline int value_size(DType t) {
  int size = 0;
  with_type(t, detail::Sizing{size});
  return size;
}

STOKER_HD inline DeviceValue load_value(const std::byte* from, DType type) {
  DeviceValue v;
  v.type = type;
  v.u = 0;
  with_type(type, detail::Loading{from, v});
  return v;
}

template <class A>
STOKER_HD inline A number_of(const DeviceValue& v) {
  return detail::number(v, detail::Number<A>{});
}

STOKER_HD inline void store_value(const DeviceValue& v, std::byte* to) {
  if (v.type == DType::kBool) store_as(to, static_cast<uint8_t>(v.f));
  else with_type(v.type, detail::Storing{to, v});
}

STOKER_HD inline DeviceValue convert_value(const DeviceValue& v, DType to) {
  if (v.type == to) return v;
  DeviceValue r;
  r.type = to;
  r.u = 0;
  with_type(to, detail::Converting{v, r});
  return r;
}

STOKER_HD inline DeviceValue value_of(float x, DType to) {
  DeviceValue v;
  v.type = DType::kFloat32;
  v.u = 0;
  v.f = x;
  return convert_value(v, to);
}
STOKER_HD inline DeviceValue value_of(double x, DType to) {
  DeviceValue v;
  v.type = DType::kFloat64;
  v.d = x;
  return convert_value(v, to);
}

}  // namespace stoker
