// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A pass over a batch of samples as a block program (Note [Block programs] of memory/device.h),
// with the bytes of run_blocks. The program is plain device code over descriptors in one buffer;
// fused_batch.h makes them on the host.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/device_value.h"
#include "kernels/fixed_point.h"
#include "kernels/pass.h"
#include "kernels/rows.h"

namespace stoker {

// Bytes of the sample's own memory, or (scratch) of what the batch's passes hand to each other.
struct FusedMemory {
  int64_t address = 0;
  bool scratch = false;
};

// One axis of a sample's output window; positions in [lo, hi) are data.
struct FusedAxis {
  int64_t extent, lo, hi, out_stride;
  int64_t in_stride;  // 0 for a resampled axis
  int64_t table;  // 0, or where the input position of each data position stands
};

// The taps of a resampled axis, one row for each of its data positions. All places are offsets in
// the descriptor buffer.
struct FusedTaps {
  int axis;
  int64_t in_stride, first, taps, weights, pitch;
};

struct FusedFill {
  int64_t lo[kMaxRank], hi[kMaxRank];
  int64_t values;  // 8 bytes a channel
};

enum class FusedKind : uint8_t { kMove, kFixed, kFloat, kDouble };

struct FusedTask {
  FusedMemory in, out;
  FusedKind kind;
  DType in_type, resampled;
  int out_size, rank, line_axis, channel_axis, tap_count, steps, fills;
  int order[kMaxRank];  // the axes but line_axis, outermost first
  FusedAxis axis[kMaxRank];
  FusedTaps taps[3];  // outermost first, the last one along line_axis
  FusedFill fill[Pass::kMaxFills];
  int64_t step;  // ValueStep [channel][steps]
};

// What one block makes: lines [first, first + lines) of the sample (all positions but those of
// line_axis, numbered), at [begin, end) of line_axis. Between the phases `shared` holds the input
// range [need, need + width) of each line; width 0: the range is too wide, and phase 1 does the
// whole work.
struct FusedTile {
  int64_t task, first, lines, begin, end, need, width;
};

struct FusedProgram {
  static constexpr int kPhases = 2, kMostThreads = 256;
  const std::byte* tables;  // the descriptor buffer
  int64_t tasks, tiles;  // where they stand in it
  std::byte* scratch;

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const;
};

namespace fused {

template <class T>
STOKER_HD inline const T* at(const std::byte* tables, int64_t place) {
  return reinterpret_cast<const T*>(tables + place);
}

template <class V>
struct SumOf {
  using Type = V;
};
template <>
struct SumOf<int16_t> {
  using Type = int32_t;
};

template <class V>
STOKER_HD inline V source_value(const std::byte* p, DType type) {
  if constexpr (sizeof(V) == 2) return static_cast<int16_t>(static_cast<uint8_t>(*p) << 6);
  else return number_of<V>(load_value(p, type));
}
STOKER_HD inline int32_t product(int16_t w, int16_t v) { return static_cast<int32_t>(w) * v; }
STOKER_HD inline float product(float w, float v) { return detail::mul_once(w, v); }
STOKER_HD inline double product(double w, double v) { return detail::mul_once(w, v); }
STOKER_HD inline int32_t sum(int32_t a, int32_t b) { return a + b; }
STOKER_HD inline float sum(float a, float b) { return detail::add_once(a, b); }
STOKER_HD inline double sum(double a, double b) { return detail::add_once(a, b); }
STOKER_HD inline int16_t between(int32_t s) { return fixed_between(s); }
STOKER_HD inline float between(float s) { return s; }
STOKER_HD inline double between(double s) { return s; }

// One line of one sample.
struct Line {
  const std::byte* tables;
  const FusedTask& task;
  const std::byte* in;  // at position 0 of all resampled axes
  std::byte* out;
  int64_t at[kMaxRank];
  bool data = true;  // of all axes but line_axis

  STOKER_HD Line(const FusedProgram& p, const FusedTask& t, int64_t number)
      : tables(p.tables), task(t) {
    const FusedMemory &i = t.in, &o = t.out;
    in = i.scratch ? p.scratch + i.address : reinterpret_cast<const std::byte*>(i.address);
    out = o.scratch ? p.scratch + o.address : reinterpret_cast<std::byte*>(o.address);
    for (int k = t.rank - 2; k >= 0; --k) {
      const int a = t.order[k];
      at[a] = number % t.axis[a].extent;
      number /= t.axis[a].extent;
      data = data && at[a] >= t.axis[a].lo && at[a] < t.axis[a].hi;
      out += at[a] * t.axis[a].out_stride;
      if (data) in += offset(a, at[a]);
    }
  }
  STOKER_HD int64_t offset(int a, int64_t p) const {
    const FusedAxis& x = task.axis[a];
    return x.in_stride * (x.table ? fused::at<int64_t>(tables, x.table)[p - x.lo] : p - x.lo);
  }
  STOKER_HD int64_t channel() const { return task.channel_axis < 0 ? 0 : at[task.channel_axis]; }

  // The value at `from` after the first `axes` resampled axes.
  template <class V, int kAxes>
  STOKER_HD V after_axes(const std::byte* from) const {
    if constexpr (kAxes == 0) {
      return source_value<V>(from, task.in_type);
    } else {
      const FusedTaps& t = task.taps[kAxes - 1];
      const int64_t row = at[t.axis] - task.axis[t.axis].lo;
      const V* w = fused::at<V>(tables, t.weights) + row * t.pitch;
      const std::byte* p = from + fused::at<int32_t>(tables, t.first)[row] * t.in_stride;
      typename SumOf<V>::Type s = product(w[0], after_axes<V, kAxes - 1>(p));
      for (int i = 1; i < fused::at<int32_t>(tables, t.taps)[row]; ++i)
        s = sum(s, product(w[i], after_axes<V, kAxes - 1>(p + i * t.in_stride)));
      return between(s);
    }
  }
  // The value at input position `p` of line_axis, before that axis is resampled.
  template <class V>
  STOKER_HD V before_line(int64_t p) const {
    const std::byte* from = in + p * task.taps[task.tap_count - 1].in_stride;
    switch (task.tap_count) {
      case 1: return after_axes<V, 0>(from);
      case 2: return after_axes<V, 1>(from);
      default: return after_axes<V, 2>(from);
    }
  }
};

STOKER_HD inline DeviceValue rounded(int32_t s, DType) {
  DeviceValue v;
  v.type = DType::kUint8;
  v.u = 0;
  v.f = fixed_result(s);
  return v;
}
STOKER_HD inline DeviceValue rounded(float s, DType t) { return value_of(s, t); }
STOKER_HD inline DeviceValue rounded(double s, DType t) { return value_of(s, t); }

// Position x of a line, from its part of `shared` or (null) from memory.
template <class V>
STOKER_HD inline DeviceValue resampled_value(const Line& line, int64_t x, const V* shared,
                                             int64_t need) {
  const FusedTaps& t = line.task.taps[line.task.tap_count - 1];
  const int64_t row = x - line.task.axis[t.axis].lo;
  const V* w = at<V>(line.tables, t.weights) + row * t.pitch;
  const int64_t first = at<int32_t>(line.tables, t.first)[row];
  typename SumOf<V>::Type s{};
  for (int i = 0; i < at<int32_t>(line.tables, t.taps)[row]; ++i) {
    const auto term =
        product(w[i], shared ? shared[first + i - need] : line.before_line<V>(first + i));
    s = i ? sum(s, term) : term;
  }
  return rounded(s, line.task.resampled);
}

STOKER_HD inline DeviceValue stepped(DeviceValue v, const ValueStep& s) {
  if (!s.pointwise) return convert_value(v, s.to);
  if (is_narrow(s.from) && is_narrow(s.to)) {
    const float x = detail::add_once(number_of<float>(v), -s.sub);
    return value_of(detail::add_once(detail::mul_once(x, s.mul), s.add), s.to);
  }
  const double x = detail::add_once(number_of<double>(v), -static_cast<double>(s.sub));
  return value_of(
      detail::add_once(detail::mul_once(x, static_cast<double>(s.mul)), static_cast<double>(s.add)),
      s.to);
}

STOKER_HD inline const std::byte* fill_at(const Line& line) {
  for (int f = line.task.fills - 1; f >= 0; --f) {
    const FusedFill& fill = line.task.fill[f];
    for (int a = 0; a < line.task.rank; ++a)
      if (line.at[a] < fill.lo[a] || line.at[a] >= fill.hi[a])
        return line.tables + fill.values + 8 * line.channel();
  }
  return nullptr;
}

STOKER_HD inline void copy_bytes(std::byte* to, const std::byte* from, int n) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}

// Element x of a line. `shared`: the line's part, or null.
STOKER_HD inline void write(Line& line, int64_t x, const std::byte* shared, int64_t need) {
  const FusedTask& t = line.task;
  line.at[t.line_axis] = x;
  std::byte* to = line.out + x * t.axis[t.line_axis].out_stride;
  if (const std::byte* fill = fill_at(line)) return copy_bytes(to, fill, t.out_size);
  DeviceValue v;
  if (t.kind == FusedKind::kMove) {
    const std::byte* from = line.in + line.offset(t.line_axis, x);
    if (t.steps == 0) return copy_bytes(to, from, t.out_size);
    v = load_value(from, t.in_type);
  } else if (t.kind == FusedKind::kFixed) {
    v = resampled_value(line, x, reinterpret_cast<const int16_t*>(shared), need);
  } else if (t.kind == FusedKind::kFloat) {
    v = resampled_value(line, x, reinterpret_cast<const float*>(shared), need);
  } else {
    v = resampled_value(line, x, reinterpret_cast<const double*>(shared), need);
  }
  const ValueStep* steps = at<ValueStep>(line.tables, t.step) + line.channel() * t.steps;
  for (int i = 0; i < t.steps; ++i) v = stepped(v, steps[i]);
  store_value(v, to);
}

template <class V>
STOKER_HD inline void prepare(const Line& line, int64_t i, std::byte* shared, int64_t place) {
  reinterpret_cast<V*>(shared)[place] = line.before_line<V>(i);
}

STOKER_HD constexpr int shared_size(FusedKind k) {
  return k == FusedKind::kFixed ? 2 : k == FusedKind::kFloat ? 4 : 8;
}

}  // namespace fused

STOKER_HD inline void FusedProgram::run(int phase, int64_t block, int thread, int threads,
                                        std::byte* shared) const {
  using namespace fused;
  const FusedTile& tile = at<FusedTile>(tables, tiles)[block];
  const FusedTask& task = at<FusedTask>(tables, tasks)[tile.task];
  const int64_t width = phase == 0 ? tile.width : tile.end - tile.begin;
  for (int64_t i = thread; i < tile.lines * width; i += threads) {
    Line line(*this, task, tile.first + i / width);
    const int64_t x = i % width;
    if (phase == 1) {
      const std::byte* part =
          tile.width ? shared + i / width * tile.width * shared_size(task.kind) : nullptr;
      write(line, tile.begin + x, part, tile.need);
    } else if (line.data) {
      if (task.kind == FusedKind::kFixed) prepare<int16_t>(line, tile.need + x, shared, i);
      else if (task.kind == FusedKind::kFloat) prepare<float>(line, tile.need + x, shared, i);
      else prepare<double>(line, tile.need + x, shared, i);
    }
  }
}

}  // namespace stoker
