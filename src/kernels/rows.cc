// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace stoker::rows {
namespace {

template <size_t kSize>
void copy_sized(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kSize);
}

void one_step(const ValueStep& s, const void* in, void* out, int64_t n) {
  if (s.pointwise) pointwise_row(in, s.from, out, s.to, n, s.sub, s.mul, s.add);
  else convert_row(in, s.from, out, s.to, n);
}

}  // namespace

void copy(const void* from, int64_t from_stride, void* to, int64_t to_stride, int size, int64_t n) {
  auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  if (from_stride == size && to_stride == size) {
    std::memcpy(out, in, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return copy_sized<1>(in, from_stride, out, to_stride, n);
    case 2: return copy_sized<2>(in, from_stride, out, to_stride, n);
    case 4: return copy_sized<4>(in, from_stride, out, to_stride, n);
    default: return copy_sized<8>(in, from_stride, out, to_stride, n);
  }
}

void split(const void* pixels, int size, int channels, void* planes, int64_t pitch, int64_t n) {
  for (int c = 0; c < channels; ++c)
    copy(static_cast<const std::byte*>(pixels) + c * size, channels * size, static_cast<std::byte*>(planes) + c * pitch,
         size, size, n);
}

void join(const void* planes, int64_t pitch, int size, int channels, void* pixels, int64_t n) {
  for (int c = 0; c < channels; ++c)
    copy(static_cast<const std::byte*>(planes) + c * pitch, size, static_cast<std::byte*>(pixels) + c * size,
         channels * size, size, n);
}

void apply(std::span<const ValueStep> steps, const void* in, void* out, int64_t n, void* scratch) {
  auto* a = static_cast<std::byte*>(scratch);
  auto* b = a + 8 * n;
  for (size_t i = 0; i < steps.size(); ++i) {
    void* to = i + 1 == steps.size() ? out : a;
    one_step(steps[i], in, to, n);
    in = to;
    std::swap(a, b);
  }
}

}  // namespace stoker::rows
