// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy_runs.h"

#include <cstring>

namespace stoker {

namespace {

// Runs of a size that the compiler knows, as pixels and elements are.
template <int64_t kBytes>
void copy_short(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

void copy_row(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
              int64_t count, int64_t bytes) {
  switch (bytes) {
    case 1: return copy_short<1>(from, from_step, to, to_step, count);
    case 2: return copy_short<2>(from, from_step, to, to_step, count);
    case 3: return copy_short<3>(from, from_step, to, to_step, count);
    case 4: return copy_short<4>(from, from_step, to, to_step, count);
    case 6: return copy_short<6>(from, from_step, to, to_step, count);
    case 8: return copy_short<8>(from, from_step, to, to_step, count);
    case 12: return copy_short<12>(from, from_step, to, to_step, count);
    case 16: return copy_short<16>(from, from_step, to, to_step, count);
    default:
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_step, from + i * from_step, static_cast<size_t>(bytes));
  }
}

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

void copy_runs(const Runs& runs, const void* from, void* to) {
  if (runs.bytes == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  const int last = runs.count.rank - 1;
  if (last < 0) return void(std::memcpy(target, source, static_cast<size_t>(runs.bytes)));
  for (Shape at = Shape::filled(last, 0);;) {
    copy_row(source, runs.from[last], target, runs.to[last], runs.count[last], runs.bytes);
    int a = last - 1;
    for (; a >= 0; --a) {
      source += runs.from[a], target += runs.to[a];
      if (++at[a] < runs.count[a]) break;
      source -= at[a] * runs.from[a], target -= at[a] * runs.to[a];
      at[a] = 0;
    }
    if (a < 0) return;
  }
}

}  // namespace stoker
