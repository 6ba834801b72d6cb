// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/operation_rows.h"

#include "kernels/levels.h"

namespace stoker {

namespace {

// Functions of exact_functions.h do not vectorise, so they are compiled for one level only.
template <class F>
inline constexpr bool kIsExact = false;
template <auto F>
inline constexpr bool kIsExact<operations::ThroughDouble<F>> = true;
template <auto F>
inline constexpr bool kIsExact<operations::ExactOfTwo<F>> = true;
template <>
inline constexpr bool kIsExact<operations::Power> = true;

// A loop copies what it captures first: bytes that it writes might else be the captures, and
// nothing would vectorise.
template <class F, class Loop>
void at_level(const Loop& loop) {
  if constexpr (kIsExact<F>) loop();
  else at_cpu_level(loop);
}

template <class To, class From, class F>
void row_of_one(const void* a, const void*, const void*, void* out, int64_t n) {
  at_level<F>([from = static_cast<const From*>(a), to = static_cast<To*>(out), n] {
    const From* __restrict x = from;
    To* __restrict y = to;
    const int64_t count = n;
    for (int64_t i = 0; i < count; ++i) y[i] = F{}(x[i]);
  });
}

template <class To, class From, class F>
void row_of_two(const void* a, const void* b, const void*, void* out, int64_t n) {
  at_level<F>([l = static_cast<const From*>(a), r = static_cast<const From*>(b),
               to = static_cast<To*>(out), n] {
    const From* __restrict x = l;
    const From* __restrict z = r;
    To* __restrict y = to;
    const int64_t count = n;
    for (int64_t i = 0; i < count; ++i) y[i] = F{}(x[i], z[i]);
  });
}

template <class T>
void row_of_select(const void* a, const void* b, const void* c, void* out, int64_t n) {
  at_cpu_level([truth = static_cast<const uint8_t*>(a), l = static_cast<const T*>(b),
                r = static_cast<const T*>(c), to = static_cast<T*>(out), n] {
    const uint8_t* __restrict t = truth;
    const T* __restrict x = l;
    const T* __restrict z = r;
    T* __restrict y = to;
    const int64_t count = n;
    for (int64_t i = 0; i < count; ++i) y[i] = t[i] ? x[i] : z[i];
  });
}

struct FindRow {
  OperationRow& found;

  template <class To, class From, class F>
  void one(F) const {
    found = row_of_one<To, From, F>;
  }
  template <class To, class From, class F>
  void two(F) const {
    found = row_of_two<To, From, F>;
  }
  template <class T>
  void select() const {
    found = row_of_select<T>;
  }
};

}  // namespace

OperationRow operation_row(Operation o, DType t) {
  OperationRow found = nullptr;
  with_operation(o, t, FindRow{found});
  return found;
}

bool has_zero(const void* values, DType t, int64_t n) {
  bool found = false;
  with_size(size_of(t), [&]<class T>(T) {
    at_cpu_level([&found, from = static_cast<const T*>(values), n] {
      T any = 0;
      const T* numbers = from;
      const int64_t count = n;
      for (int64_t i = 0; i < count; ++i) any |= static_cast<T>(numbers[i] == 0);
      found = any != 0;
    });
  });
  return found;
}

}  // namespace stoker
