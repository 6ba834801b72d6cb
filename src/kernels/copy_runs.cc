// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy_runs.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/rows/rows.h"

namespace stoker {

namespace {

Shape reversed(const Shape& s) {
  Shape r;
  for (int a = s.rank - 1; a >= 0; --a) r.push_back(s[a]);
  return r;
}

}  // namespace

Runs::Runs(const Shape& box, const Shape& from_strides, const Shape& to_strides, int64_t element) {
  if (box.volume() == 0) return;
  bytes = element;
  for (int a = box.rank - 1; a >= 0; --a) {
    if (box[a] == 1) continue;
    const int last = count.rank - 1;
    const auto follows = [&](const Shape& strides, const Shape& steps) {
      return strides[a] == (last < 0 ? bytes : steps[last] * count[last]);
    };
    if (follows(from_strides, from) && follows(to_strides, to)) {
      (last < 0 ? bytes : count[last]) *= box[a];
      continue;
    }
    count.push_back(box[a]);
    from.push_back(from_strides[a]);
    to.push_back(to_strides[a]);
  }
  for (Shape* s : {&count, &from, &to}) *s = reversed(*s);
}

namespace {

// Calls row(from, to), with offsets in bytes, for each row: all runs of the last axis.
template <class F>
void for_each_row(const Runs& runs, F row) {
  const int last = runs.count.rank - 1;
  int64_t from = 0, to = 0;
  for (Shape at = Shape::filled(last, 0);;) {
    row(from, to);
    int a = last - 1;
    for (; a >= 0; --a) {
      from += runs.from[a], to += runs.to[a];
      if (++at[a] < runs.count[a]) break;
      from -= at[a] * runs.from[a], to -= at[a] * runs.to[a];
      at[a] = 0;
    }
    if (a < 0) return;
  }
}

}  // namespace

void copy_runs(const Runs& runs, const void* from, void* to) {
  if (runs.bytes == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  const int last = runs.count.rank - 1;
  if (last < 0) return rows::copy(source, 0, target, 0, runs.bytes, 1);
  for_each_row(runs, [&](int64_t in, int64_t out) {
    rows::copy(source + in, runs.from[last], target + out, runs.to[last], runs.bytes,
               runs.count[last]);
  });
}

bool alternate(const Runs& runs, size_t count) {
  const int last = runs.count.rank - 1;
  const bool is_element = std::has_single_bit(static_cast<uint64_t>(runs.bytes)) && runs.bytes <= 8;
  return is_element && count > 1 && count <= kMostAlternating && last >= 0 &&
         runs.from[last] == runs.bytes && runs.to[last] == runs.bytes * static_cast<int64_t>(count);
}

void copy_alternating(const Runs& runs, std::span<const std::byte* const> from, std::byte* to) {
  constexpr int64_t kBytes = 2048;  // of a memory, which are put next to those of the others
  alignas(64) std::byte planes[kMostAlternating * kBytes];
  const int last = runs.count.rank - 1, size = static_cast<int>(runs.bytes);
  for_each_row(runs, [&](int64_t in, int64_t out) {
    for (int64_t k = 0, n; k < runs.count[last]; k += n) {
      n = std::min(kBytes / size, runs.count[last] - k);
      for (size_t i = 0; i < from.size(); ++i)
        std::memcpy(planes + static_cast<int64_t>(i) * kBytes, from[i] + in + k * size,
                    static_cast<size_t>(n * size));
      rows::join(planes, kBytes, size, static_cast<int>(from.size()), to + out + k * runs.to[last],
                 n);
    }
  });
}

}  // namespace stoker
