// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps on types that fit into float32, for a few vectors at a time.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/rows/rows.h"

#include "kernels/levels.h"
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rows_steps.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
// Four vectors at a time share the loading of a step's arguments and the branches on its type.
struct Four {
  F a, b, c, e;
};
HWY_INLINE Four LoadFour(DType t, const uint8_t* p) {
  const size_t n = hn::Lanes(df) * static_cast<size_t>(size_of(t));
  const F zero = hn::Zero(df);
  Four v = {zero, zero, zero, zero};  // GCC would compile a constructor of Four for no target
  OnType(t, [&](auto type) HWY_ATTR __attribute__((always_inline)) {
    v = {Load(type, p), Load(type, p + n), Load(type, p + 2 * n), Load(type, p + 3 * n)};
  });
  return v;
}
HWY_INLINE void RoundFour(DType t, Four& v) {
  OnType(t, [&](auto type) HWY_ATTR __attribute__((always_inline)) {
    v = {Round(type, v.a), Round(type, v.b), Round(type, v.c), Round(type, v.e)};
  });
}
HWY_INLINE void StoreFour(DType t, const Four& v, uint8_t* p) {
  const size_t n = hn::Lanes(df) * static_cast<size_t>(size_of(t));
  OnType(t, [&](auto type) HWY_ATTR __attribute__((always_inline)) {
    Store(type, v.a, p);
    Store(type, v.b, p + n);
    Store(type, v.c, p + 2 * n);
    Store(type, v.e, p + 3 * n);
  });
}

// Storing rounds to the last step's type, so the last step itself does not round.
HWY_INLINE void ApplyFour(const ValueStep* steps, size_t count, const uint8_t* in, uint8_t* out) {
  Four v = LoadFour(steps[0].from, in);
  for (size_t i = 0; i < count; ++i) {
    const ValueStep& s = steps[i];
    if (s.pointwise) {
      const F sub = hn::Set(df, s.sub), mul = hn::Set(df, s.mul), add = hn::Set(df, s.add);
      for (F* x : {&v.a, &v.b, &v.c, &v.e}) *x = hn::Mul(hn::Sub(*x, sub), mul);
      if (const F div = hn::Set(df, s.div); s.div != 1)
        for (F* x : {&v.a, &v.b, &v.c, &v.e}) *x = hn::Div(*x, div);
      for (F* x : {&v.a, &v.b, &v.c, &v.e}) *x = hn::Add(*x, add);
    }
    if (i + 1 < count) RoundFour(s.to, v);
  }
  StoreFour(steps[count - 1].to, v, out);
}

void Apply(const ValueStep* steps, size_t count, const void* in, void* out, int64_t n) {
  const auto chunk = static_cast<int64_t>(4 * hn::Lanes(df));
  const int64_t in_size = size_of(steps[0].from), out_size = size_of(steps[count - 1].to);
  auto* from = static_cast<const uint8_t*>(in);
  auto* to = static_cast<uint8_t*>(out);
  int64_t i = 0;
  for (; i + chunk <= n; i += chunk) ApplyFour(steps, count, from + i * in_size, to + i * out_size);
  if (i == n) return;
  if (n >= chunk)  // processes some values twice
    return ApplyFour(steps, count, from + (n - chunk) * in_size, to + (n - chunk) * out_size);
  HWY_ALIGN uint8_t last_in[4 * HWY_MAX_BYTES] = {}, last_out[4 * HWY_MAX_BYTES];
  std::memcpy(last_in, from + i * in_size, static_cast<size_t>((n - i) * in_size));
  ApplyFour(steps, count, last_in, last_out);
  std::memcpy(to + i * out_size, last_out, static_cast<size_t>((n - i) * out_size));
}

// to[i] = from[i] * mul + add for bytes, a whole vector at a time. Requires: both are finite.
void ScaleBytes(float mul, float add, const void* in, void* out, int64_t n) {
  auto* from = static_cast<const uint8_t*>(in);
  auto* to = static_cast<uint8_t*>(out);
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < n; ++i) to[i] = convert<uint8_t>(from[i] * mul + add);
#else
  const auto lanes = static_cast<int64_t>(4 * hn::Lanes(di));
  const F factor = hn::Set(df, mul), term = hn::Set(df, add);
  const F most = hn::Set(df, 255), half = hn::Set(df, detail::kBelowHalf<float>);
  const auto scaled = [&](I byte) HWY_ATTR __attribute__((always_inline)) {
    const F v = hn::Add(hn::Mul(hn::ConvertTo(df, byte), factor), term);
    return Truncate(hn::Add(hn::Min(hn::Max(v, hn::Zero(df)), most), half));
  };
  const hn::Repartition<uint8_t, decltype(df)> bytes;
  const hn::RebindToUnsigned<decltype(di)> words;
  const auto four = [&](const uint8_t* p, uint8_t* q) HWY_ATTR __attribute__((always_inline)) {
    const auto v = hn::BitCast(words, hn::LoadU(bytes, p));
    const auto low = hn::Set(words, 255);
    const I a = scaled(hn::BitCast(di, hn::And(v, low)));
    const I b = scaled(hn::BitCast(di, hn::And(hn::ShiftRight<8>(v), low)));
    const I c = scaled(hn::BitCast(di, hn::And(hn::ShiftRight<16>(v), low)));
    const I e = scaled(hn::BitCast(di, hn::ShiftRight<24>(v)));
    const I made =
        hn::Or(hn::Or(a, hn::ShiftLeft<8>(b)), hn::Or(hn::ShiftLeft<16>(c), hn::ShiftLeft<24>(e)));
    hn::StoreU(hn::BitCast(bytes, made), bytes, q);
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) four(from + i, to + i);
  if (i == n) return;
  HWY_ALIGN uint8_t last[HWY_MAX_BYTES] = {};
  std::memcpy(last, from + i, static_cast<size_t>(n - i));
  four(last, last);
  std::memcpy(to + i, last, static_cast<size_t>(n - i));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(Apply);
HWY_EXPORT(ScaleBytes);

void one_step(const ValueStep& s, const void* in, void* out, int64_t n) {
  if (s.pointwise) pointwise_row(in, s.from, out, s.to, n, s.sub, s.mul, s.add, s.div);
  else convert_row(in, s.from, out, s.to, n);
}

// Requires: n is at most kChunk.
constexpr int64_t kChunk = 512;
// The first steps up to a list, or only the one that has it.
size_t run_of(std::span<const ValueStep> steps) {
  size_t n = 0;
  while (n < steps.size() && !steps[n].list) ++n;
  return std::max<size_t>(n, 1);
}
void apply_with_lists(std::span<const ValueStep> steps, const void* in, void* out, int64_t n) {
  alignas(64) std::byte buffers[2][8 * kChunk];
  std::byte *a = buffers[0], *b = buffers[1];
  while (!steps.empty()) {
    const size_t count = run_of(steps);
    void* to = count == steps.size() ? out : a;
    apply(steps.first(count), in, to, n);
    steps = steps.subspan(count);
    in = to;
    std::swap(a, b);
  }
}
void apply_chunk(std::span<const ValueStep> steps, const void* in, void* out, int64_t n) {
  alignas(64) std::byte buffers[2][8 * kChunk];
  std::byte *a = buffers[0], *b = buffers[1];
  for (size_t i = 0; i < steps.size(); ++i) {
    void* to = i + 1 == steps.size() ? out : a;
    one_step(steps[i], in, to, n);
    in = to;
    std::swap(a, b);
  }
}
template <class Apply>
void by_chunks(const Apply& apply, std::span<const ValueStep> steps, const void* in, void* out,
               int64_t n) {
  const int64_t in_size = size_of(steps.front().from), out_size = size_of(steps.back().to);
  auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t i = 0; i < n; i += kChunk)
    apply(steps, from + i * in_size, to + i * out_size, std::min(kChunk, n - i));
}

// Whether the step is from or to bool and between bytes: then it asks whether the byte is not 0.
bool is_truth(const ValueStep& s) {
  return !s.pointwise && !s.list && (s.from == DType::kBool || s.to == DType::kBool) &&
         size_of(s.from) == 1 && size_of(s.to) == 1;
}
bool scales_bytes(const ValueStep& s) {
  return s.pointwise && s.from == DType::kUint8 && s.to == DType::kUint8 && s.sub == 0 &&
         s.div == 1 && std::isfinite(s.mul) && std::isfinite(s.add);
}
void set_truths(const void* in, void* out, int64_t n) {
  at_cpu_level([=] {
    // Copies stay in registers, whatever is written; without them nothing vectorises.
    auto* from = static_cast<const uint8_t*>(in);
    auto* to = static_cast<uint8_t*>(out);
    const int64_t count = n;
    for (int64_t k = 0; k < count; ++k) to[k] = from[k] != 0;
  });
}

}  // namespace

void apply(std::span<const ValueStep> steps, const void* in, void* out, int64_t n) {
  if (steps.size() == 1 && is_truth(steps[0])) return set_truths(in, out, n);
  if (steps.size() == 1 && scales_bytes(steps[0]))
    return HWY_DYNAMIC_DISPATCH(ScaleBytes)(steps[0].mul, steps[0].add, in, out, n);
  bool narrow = is_narrow(steps.front().from), lists = false;
  for (const ValueStep& s : steps) {
    narrow = narrow && is_narrow(s.to);
    lists = lists || s.list;
  }
  if (lists && steps.size() == 1) look_up(steps[0], in, out, n);
  else if (lists) by_chunks(apply_with_lists, steps, in, out, n);
  else if (narrow) HWY_DYNAMIC_DISPATCH(Apply)(steps.data(), steps.size(), in, out, n);
  else if (steps.size() == 1) one_step(steps[0], in, out, n);
  else by_chunks(apply_chunk, steps, in, out, n);
}

}  // namespace stoker::rows
#endif
