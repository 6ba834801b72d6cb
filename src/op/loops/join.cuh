// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators that put their inputs side by side along an axis share.
#pragma once
#include "kernels/copy_runs.h"
#include "op/loops/gpu_each.cuh"
#include "op/rules.h"

namespace stoker {

// The window of an input that lies at [begin, begin + extent) along the axis; empty along the axis
// if none of it is wanted.
inline Window part_of(Window wanted, int axis, int64_t begin, int64_t extent) {
  for (Shape* s : {&wanted.begin, &wanted.end})
    (*s)[axis] = std::clamp<int64_t>((*s)[axis] - begin, 0, extent);
  return wanted;
}

// Copies an input to its part of the output.
struct JoinedInput {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  Runs runs;
  int64_t pieces = 0;  // words, on a device
  int word = 1;

  // Requires: in.full differs from out.full only along the axis, and `in` covers its part.
  JoinedInput(const View& in, const View& out, int axis, int64_t begin) {
    const Window w = part_of(out.covers(), axis, begin, in.full[axis]);
    if (w.shape().volume() == 0) return;
    from = in.as<const std::byte>();
    for (int a = 0; a < w.begin.rank; ++a) from += (w.begin[a] - in.origin[a]) * in.strides[a];
    to = out.as<std::byte>() + (w.begin[axis] + begin - out.origin[axis]) * out.strides[axis];
    runs = Runs(w.shape(), in.strides, out.strides, size_of(out.dtype));
    auto bits = reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to) |
                static_cast<uintptr_t>(runs.bytes) | kVectorBytes;
    for (int a = 0; a < runs.count.rank; ++a)
      bits |= static_cast<uintptr_t>(runs.from[a]) | static_cast<uintptr_t>(runs.to[a]);
    word = static_cast<int>(bits & -bits);
    pieces = runs.volume() / word;
  }

  STOKER_HD void run(int64_t k) const {
    const int64_t words = runs.bytes / word;
    int64_t rest = k / words, in = k % words * word, out = in;
    for (int a = runs.count.rank - 1; a >= 0; --a) {
      const int64_t at = rest % runs.count.extent[a];
      in += at * runs.from.extent[a];
      out += at * runs.to.extent[a];
      rest /= runs.count.extent[a];
    }
    switch (word) {
      case 1: return copy_word<1>(from + in, to + out);
      case 2: return copy_word<2>(from + in, to + out);
      case 4: return copy_word<4>(from + in, to + out);
      case 8: return copy_word<8>(from + in, to + out);
      default: return copy_word<16>(from + in, to + out);
    }
  }

 private:
  template <size_t kBytes>
  STOKER_HD static void copy_word(const std::byte* from, std::byte* to) {
    using Word = typename detail::Word<kBytes>::Type;
    *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(from);
  }
};

inline void add_parts(std::span<const View> inputs, const View& out, int axis,
                      std::vector<JoinedInput>& parts) {
  int64_t begin = 0;
  for (const View& in : inputs) {
    if (const JoinedInput part(in, out, axis, begin); part.runs.bytes > 0) parts.push_back(part);
    begin += in.full[axis];
  }
}

inline void join(std::span<const View> inputs, const View& out, int axis) {
  std::vector<JoinedInput> parts;
  add_parts(inputs, out, axis, parts);
  if (parts.empty()) return;
  const JoinedInput& first = parts[0];
  bool are_alternating = alternate(first.runs, parts.size());
  std::vector<const std::byte*> from;
  for (const JoinedInput& p : parts) {
    const int64_t before = static_cast<int64_t>(from.size()) * first.runs.bytes;
    are_alternating = are_alternating && p.runs == first.runs && p.to == first.to + before;
    from.push_back(p.from);
  }
  if (are_alternating) return copy_alternating(first.runs, from, first.to);
  for (const JoinedInput& p : parts) copy_runs(p.runs, p.from, p.to);
}

// join() for output 0 of a batch: inputs(i) and axis(i) are those of item i.
template <class Inputs, class Axis>
void join(GpuRun& r, Inputs inputs, Axis axis) {
  std::vector<JoinedInput> parts;
  for (size_t i = 0; i < r.items.size(); ++i)
    add_parts(inputs(i), r.items[i].outputs[0], axis(i), parts);
  run_each(r, std::span<const JoinedInput>(parts));
}

// Throws WrongCall unless an input is as the first one, whose unknown extents (-1) fit any. Its own
// layout or extents may be unknown, too.
inline void require_like(const TensorType& first, size_t i, const TensorType& t, const char* but) {
  bool fits = t.dtype == first.dtype &&
              (t.layout.empty() || first.layout.empty() || t.layout == first.layout);
  if (t.shape.rank >= 0 && first.shape.rank >= 0) {
    fits = fits && t.shape.rank == first.shape.rank;
    for (int a = 0; fits && a < t.shape.rank; ++a)
      fits = t.shape[a] < 0 || first.shape[a] < 0 || t.shape[a] == first.shape[a];
  }
  require(fits, "input ", i, " is ", t.str(), ", expected ", first.str(), " as input 0", but);
}

}  // namespace stoker
