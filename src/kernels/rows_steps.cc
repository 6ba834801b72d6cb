// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps on types that fit into float32, a vector at a time through all of them.
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/rows.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows_steps.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
// One vector through all steps. Storing rounds to the last step's type, so the last step does not.
HWY_INLINE void ApplyVector(const ValueStep* steps, size_t count, const void* in, void* out) {
  F v = Load(steps[0].from, in);
  for (size_t i = 0; i < count; ++i) {
    const ValueStep& s = steps[i];
    if (s.pointwise) {
      v = hn::Sub(v, hn::Set(df, s.sub));
      v = hn::Mul(v, hn::Set(df, s.mul));
      v = hn::Add(v, hn::Set(df, s.add));
    }
    if (i + 1 < count) v = Round(s.to, v);
  }
  Store(steps[count - 1].to, v, out);
}

void Apply(const ValueStep* steps, size_t count, const void* in, void* out, int64_t n) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const int64_t in_size = size_of(steps[0].from), out_size = size_of(steps[count - 1].to);
  auto* from = static_cast<const uint8_t*>(in);
  auto* to = static_cast<uint8_t*>(out);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) ApplyVector(steps, count, from + i * in_size, to + i * out_size);
  if (i == n) return;
  HWY_ALIGN uint8_t last_in[HWY_MAX_BYTES] = {}, last_out[HWY_MAX_BYTES];
  std::memcpy(last_in, from + i * in_size, static_cast<size_t>((n - i) * in_size));
  ApplyVector(steps, count, last_in, last_out);
  std::memcpy(to + i * out_size, last_out, static_cast<size_t>((n - i) * out_size));
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(Apply);

void one_step(const ValueStep& s, const void* in, void* out, int64_t n) {
  if (s.pointwise) pointwise_row(in, s.from, out, s.to, n, s.sub, s.mul, s.add);
  else convert_row(in, s.from, out, s.to, n);
}

void apply_wide(std::span<const ValueStep> steps, const void* in, void* out, int64_t n, void* scratch) {
  auto* a = static_cast<std::byte*>(scratch);
  auto* b = a + 8 * n;
  for (size_t i = 0; i < steps.size(); ++i) {
    void* to = i + 1 == steps.size() ? out : a;
    one_step(steps[i], in, to, n);
    in = to;
    std::swap(a, b);
  }
}

}  // namespace

void apply(std::span<const ValueStep> steps, const void* in, void* out, int64_t n, void* scratch) {
  bool narrow = is_narrow(steps.front().from);
  for (const ValueStep& s : steps) narrow = narrow && is_narrow(s.to);
  if (narrow) HWY_DYNAMIC_DISPATCH(Apply)(steps.data(), steps.size(), in, out, n);
  else apply_wide(steps, in, out, n, scratch);
}

}  // namespace stoker::rows
#endif
