// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Device code: where the rows of a task are, and their values before the line is resampled.
#pragma once
#include "kernels/fused_device/byte_pairs.h"
#include "kernels/fused_device/program.h"
#include "kernels/fused_device/value.h"
#include "kernels/resample/fixed_point.h"
#include "kernels/resample/taps.h"

namespace stoker::fused {

template <class V>
struct SumOf {
  using Type = V;
};
template <>
struct SumOf<int16_t> {
  using Type = int32_t;
};
template <class V>
using Sum = typename SumOf<V>::Type;

// The start of a sum: adding to it changes no value and not even the sign of a zero.
template <class V>
inline constexpr Sum<V> kNothing = static_cast<Sum<V>>(-0.0);

STOKER_HD inline int32_t product(int16_t w, int16_t v) { return static_cast<int32_t>(w) * v; }
STOKER_HD inline float product(float w, float v) { return detail::mul_once(w, v); }
STOKER_HD inline double product(double w, double v) { return detail::mul_once(w, v); }
STOKER_HD inline int32_t sum(int32_t a, int32_t b) { return a + b; }
STOKER_HD inline float sum(float a, float b) { return detail::add_once(a, b); }
STOKER_HD inline double sum(double a, double b) { return detail::add_once(a, b); }
STOKER_HD inline int16_t between(int32_t s) { return fixed_between(s); }
STOKER_HD inline float between(float s) { return s; }
STOKER_HD inline double between(double s) { return s; }

template <class V, class T>
STOKER_HD inline V source_value(T x) {
  if constexpr (sizeof(V) == 2) return static_cast<int16_t>(x << kFractionBits);
  else return convert<V>(x);
}

// Not inlined, so that rare code leaves registers to the rest.
template <class V>
[[gnu::noinline]] STOKER_HD V load_number(const std::byte* p, DType type) {
  return number_of<V>(load_value(p, type));
}

// Ways to load from the source. Each loads kCount neighbouring values at once.
template <class V>
struct OneValue {
  static constexpr int kCount = 1;
  DType type;
  STOKER_HD void load(const std::byte* p, V (&v)[1]) const {
    if constexpr (sizeof(V) == 2) v[0] = source_value<V>(load_as<uint8_t>(p));
    else v[0] = load_number<V>(p, type);
  }
};
template <class V, class T>
struct EightBytes {
  static constexpr int kCount = 8 / sizeof(T);
  const std::byte *begin, *end;
  STOKER_HD void load(const std::byte* p, V (&v)[kCount]) const {
    struct Values {
      T v[kCount];
    };
    const auto bytes = __builtin_bit_cast(Values, load_eight(p, begin, end));
    for (int k = 0; k < kCount; ++k) v[k] = source_value<V>(bytes.v[k]);
  }
  // Whether load_eight_of_two() can read at all of `count` addresses.
  STOKER_HD bool inside(const std::byte* p, int64_t stride, int count) const {
    const std::byte* last = p + (count - 1) * stride;
    return (p < last ? p : last) - begin >= 8 && end - (p < last ? last : p) >= 16;
  }
};
using FixedBytes = EightBytes<int16_t, uint8_t>;

// Calls f(axis, position) for each axis that numbers rows, with the position of row `number`.
template <class F>
STOKER_HD inline void for_each_position(const FusedTask& t, uint32_t number, F&& f) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int k = t.row_axes - 1; k >= 0; --k) {
    const int a = t.order[k];
    const auto extent = static_cast<uint32_t>(t.axis[a].extent);
    const uint32_t rest = k ? number / extent : 0;
    f(a, int64_t{number - rest * extent});
    number = rest;
  }
}

STOKER_HD inline int64_t in_offset(const std::byte* tables, const FusedAxis& x, int64_t p) {
  return x.in_stride * (x.table ? at<int64_t>(tables, x.table)[p - x.lo] : p - x.lo);
}

STOKER_HD inline std::byte* address_of(const FusedProgram& p, const FusedMemory& m,
                                       int64_t address) {
  return in_global(m.scratch ? p.scratch + address : reinterpret_cast<std::byte*>(address));
}

template <class V>
struct Taps {
  const V* weights;
  int first, count;
  STOKER_HD Taps(const std::byte* tables, const FusedTaps& t, int64_t position)
      : weights(at<V>(tables, t.weights) + position * t.pitch),
        first(at<int32_t>(tables, t.first)[position]),
        count(at<int32_t>(tables, t.taps)[position]) {}
};

// The taps of an axis for one row. The first tap is in the row's address.
struct RowTaps {
  int64_t weights;  // offset in the descriptor buffer
  int count;
};

// Where a row is. Kept in shared memory, so that a thread block works it out once.
struct RowAddress {
  const std::byte* in;  // at the first channel and the first tap of each axis but the line
  std::byte* out;
  int64_t channel = 0;
  union {
    RowTaps taps[2] = {};  // of all axes but the line
    int64_t place[WarpInput::kMost];  // of a warped row at the first position of the line
  };
  uint32_t number;
  bool data = true;  // as far as the axes that number rows decide

  // `weight` is the size of a weight in bytes.
  STOKER_HD RowAddress(const FusedProgram& p, const FusedTask& t, uint32_t number, int weight)
      : in(address_of(p, t.in, t.in.address)),
        out(address_of(p, t.out, t.out.address)),
        number(number) {
    const FusedWarp* warp = t.warp ? at<FusedWarp>(p.tables, t.warp) : nullptr;
    for (int i = 0; warp && i < WarpInput::kMost; ++i) place[i] = warp->places.start[i];
    for_each_position(t, number, [&](int a, int64_t position) {
      const FusedAxis& x = t.axis[a];
      out += position * x.out_stride;
      data = data && position >= x.lo && position < x.hi;
      if (data) in += in_offset(p.tables, x, position);
      for (int i = 0; warp && i < WarpInput::kMost; ++i)
        place[i] += warp->places.step[a][i] * (position - x.lo);
      for (int i = 0; i < 2; ++i)
        if (data && i < t.tap_count - 1 && t.taps[i].axis == a)
          set_taps(p, t.taps[i], position - x.lo, weight, taps[i]);
      if (a == t.channel_axis) channel = position;
    });
  }

 private:
  STOKER_HD void set_taps(const FusedProgram& p, const FusedTaps& t, int64_t row, int weight,
                          RowTaps& to) {
    in += at<int32_t>(p.tables, t.first)[row] * t.in_stride;
    to = {t.weights + row * t.pitch * weight, at<int32_t>(p.tables, t.taps)[row]};
  }
};

struct Row : RowAddress {
  const std::byte* tables;
  const FusedTask& task;

  STOKER_HD Row(const RowAddress& address, const FusedProgram& p, const FusedTask& t)
      : RowAddress(address), tables(p.tables), task(t) {
    in = in_global(in);
    out = in_global(out);
  }

  // Writes eight values, resampled along the first resampled axis, to `to`. `from` is at the first
  // tap. bytes(p) loads eight values; two rows are summed at a time. The weights' magnitudes sum to
  // about 2.9 * 2^14 at most (taps_of), so no sum comes near 2^25. With the 6 fraction bits of
  // other sources none would overflow either, so leaving these out changes nothing.
  template <class Bytes>
  STOKER_HD void sum_bytes(const std::byte* from, const Bytes& bytes, int16_t (&to)[8]) const {
    const int64_t stride = task.taps[0].in_stride;
    const std::byte* weights = in_global(tables + taps[0].weights);
    int32_t s[8] = {};
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int left = taps[0].count; left > 0; left -= 2, from += 2 * stride, weights += 4) {
      const uint64_t lower = left > 1 ? bytes(from + stride) : 0;
      add_two_rows(s, load_aligned<uint32_t>(weights), bytes(from), lower);
    }
    for (int k = 0; k < 8; ++k) to[k] = fixed_between_u8(s[k]);
  }
  STOKER_HD void sum_bytes(const std::byte* from, const FixedBytes& load, int16_t (&to)[8]) const {
    if (load.inside(from, task.taps[0].in_stride, taps[0].count))
      return sum_bytes(from, [](const std::byte* p) { return load_eight_of_two(p); }, to);
    sum_bytes(from, [&](const std::byte* p) { return load_eight(p, load.begin, load.end); }, to);
  }

  // Writes values, resampled along the first `axes` resampled axes. `from` is at the first taps.
  template <int axes, class V, class Load>
  STOKER_HD void sum_axes(const std::byte* from, const Load& load, V (&to)[Load::kCount]) const {
    if constexpr (axes == 0) {
      load.load(from, to);
    } else if constexpr (axes == 1 && std::is_same_v<Load, FixedBytes>) {
      sum_bytes(from, load, to);
    } else {
      const int64_t stride = task.taps[axes - 1].in_stride;
      const V* weights = at<V>(tables, taps[axes - 1].weights);
      const int count = taps[axes - 1].count;
      Sum<V> s[Load::kCount];
      for (int k = 0; k < Load::kCount; ++k) s[k] = kNothing<V>;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
      for (int i = 0; i < count; ++i, from += stride) {
        sum_axes<axes - 1>(from, load, to);
        for (int k = 0; k < Load::kCount; ++k) s[k] = sum(s[k], product(weights[i], to[k]));
      }
      for (int k = 0; k < Load::kCount; ++k) to[k] = between(s[k]);
    }
  }
  // sum_axes() for all resampled axes but the line.
  template <class V, class Load>
  STOKER_HD void across(const std::byte* from, const Load& load, V (&to)[Load::kCount]) const {
    switch (task.tap_count) {
      case 1: return sum_axes<0>(from, load, to);
      case 2: return sum_axes<1>(from, load, to);
      default: return sum_axes<2>(from, load, to);
    }
  }

  template <class V>
  [[gnu::noinline]] STOKER_HD V one_across(const std::byte* from) const {
    V v[1];
    across(from, OneValue<V>{task.in_type}, v);
    return v[0];
  }

  // The value at x, c where it lies outside of the box of a fill; null for data.
  STOKER_HD const std::byte* fill_at(int64_t x, int64_t c) const {
    for (int f = task.fills - 1; f >= 0; --f) {
      const FusedFill& fill = task.fill[f];
      bool inside = true;
      const auto look = [&](int a, int64_t p) {
        inside = inside && p >= fill.lo[a] && p < fill.hi[a];
      };
      for_each_position(task, number, look);
      look(task.line_axis, x);
      if (task.few_channels) look(task.channel_axis, c);
      if (!inside) return tables + fill.values + 8 * channel_at(x, c);
    }
    return nullptr;
  }
  STOKER_HD int64_t channel_at(int64_t x, int64_t c) const {
    return task.channel_axis == task.line_axis ? x : channel + c;
  }
};

}  // namespace stoker::fused
