// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"

#include <cstring>

#include "base/error.h"
#include "kernels/levels.h"

namespace stoker {
namespace {

// Values may lie at any address: a view's strides need not be multiples of its element size.
template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void store(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

template <class To, class From, class F>
void each(const void* in, int64_t in_stride, void* out, int64_t out_stride, int64_t n, F&& f) {
  auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  if (in_stride == sizeof(From) && out_stride == sizeof(To)) {
    return at_cpu_level([&] {
      // Copies stay in registers, whatever is written; without them nothing vectorises.
      const auto made = f;
      const std::byte* a = from;
      std::byte* b = to;
      const int64_t count = n;
      for (int64_t i = 0; i < count; ++i)
        store<To>(b + i * sizeof(To), made(load<From>(a + i * sizeof(From))));
    });
  }
  for (int64_t i = 0; i < n; ++i)
    store<To>(to + i * out_stride, f(load<From>(from + i * in_stride)));
}

void check_types(DType from, DType to) {
  if (from == DType::kNone || to == DType::kNone) throw Error("a value of no type");
}

}  // namespace

void convert_row(const void* in, DType from, int64_t in_stride, void* out, DType to,
                 int64_t out_stride, int64_t n) {
  check_types(from, to);
  with_type(from, [&]<class From>(From) {
    with_type(to, [&]<class To>(To) {
      each<To, From>(in, in_stride, out, out_stride, n, [](From v) { return convert<To>(v); });
    });
  });
}

void pointwise_row(const void* in, DType from, void* out, DType to, int64_t n, float sub, float mul,
                   float add, float div) {
  check_types(from, to);
  with_type(from, [&]<class From>(From) {
    with_type(to, [&]<class To>(To) {
      if (div == 1)
        each<To, From>(in, sizeof(From), out, sizeof(To), n,
                       [=](From v) { return pointwise<To>(v, sub, mul, add); });
      else
        each<To, From>(in, sizeof(From), out, sizeof(To), n,
                       [=](From v) { return pointwise<To>(v, sub, mul, add, div); });
    });
  });
}

}  // namespace stoker
