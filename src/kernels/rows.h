// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over one row, for the CPU that is there. All targets give the same bytes. Pure; thread-safe.
#pragma once
#include <cstdint>
#include <span>

#include "base/types.h"
#include "kernels/convert.h"

namespace stoker {

// Pointwise or a mere change of type, of one channel.
struct ValueStep {
  DType from, to;
  bool pointwise;
  float sub, mul, add;
};

namespace rows {

// to[i] = from[i]: values of `size` bytes, strides in bytes.
void copy(const void* from, int64_t from_stride, void* to, int64_t to_stride, int size, int64_t n);

// Pixels of `channels` values next to each other, as one row per channel, `pitch` bytes apart; and back.
void split(const void* pixels, int size, int channels, void* planes, int64_t pitch, int64_t n);
void join(const void* planes, int64_t pitch, int size, int channels, void* pixels, int64_t n);

// n values through all steps. `scratch`: 16 n bytes. Requires: at least one step; in and out do not overlap.
void apply(std::span<const ValueStep> steps, const void* in, void* out, int64_t n, void* scratch);

}  // namespace rows
}  // namespace stoker
